"""What other parts of the probe asked to be told."""

_choosers = []
_before = []
_after = []


def add_fetches(choose):
    """Let `choose(run)` name tensors to fetch in every train step of that kind."""
    _choosers.append(choose)


def before_step(callback):
    """Call `callback(step)` before every train step."""
    _before.append(callback)


def after_step(callback):
    """Call `callback(step)` after every train step."""
    _after.append(callback)


def chosen_fetches(run):
    """What all choosers want of a kind of train step: {name: tensor}."""
    chosen = {}
    for choose in _choosers:
        for name, tensor in choose(run).items():
            if not run.can_fetch(tensor):
                raise ValueError(f"`{tensor.name}` is not computed outside loops by this run")
            chosen[name] = tensor
    return chosen


def tell_before(step):
    for callback in _before:
        callback(step)


def tell_after(step):
    for callback in _after:
        callback(step)
