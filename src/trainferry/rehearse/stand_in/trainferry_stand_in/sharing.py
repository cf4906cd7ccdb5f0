"""Which rank updates which weights, when the update is shared."""

from trainferry_stand_in.errors import RefusedValue

_items = []


class GradDivisionItem:
    """A gradient, its variable, its number of elements, and the rank that updates it."""

    def __init__(self, grad, var):
        self.grad = grad
        self.var = var
        self.size = _elements(grad)
        self.root_rank_id = -1


def fair_division(inputs, number):
    """Cut a list into `number` parts in order, whose greatest sum of sizes is least."""
    if not 0 < number <= len(inputs):
        raise RefusedValue(f"{len(inputs)} items cannot be shared by {number} ranks")
    sizes = [item.size for item in inputs]
    low, high = max(sizes), sum(sizes)
    while low < high:
        middle = (low + high) // 2
        if len(_cut(sizes, middle, number)) <= number:
            high = middle
        else:
            low = middle + 1
    parts, start = [], 0
    for count in _cut(sizes, low, number):
        parts.append(inputs[start : start + count])
        start += count
    return parts


def add_grads_and_vars(grads_and_vars, rank_size):
    """Share gradients with their variables among ranks."""
    items = [GradDivisionItem(grad, var) for grad, var in grads_and_vars if grad is not None]
    for rank, part in enumerate(fair_division(items, rank_size)):
        for item in part:
            item.root_rank_id = rank
    _items.extend(items)
    return items


def get_gid_by_grad(grad):
    """The rank that updates with this gradient; -1 where none is set."""
    return next((item.root_rank_id for item in _items if item.grad is grad), -1)


def get_gid_by_weight(weight):
    """The rank that updates this variable; -1 where none is set."""
    return next((item.root_rank_id for item in _items if item.var is weight), -1)


def get_all_grad_item():
    return _items


def _cut(sizes, most, number):
    """Lengths of parts of at most `most`; the last items fill parts that would stay empty."""
    lengths, total = [0], 0
    for index, size in enumerate(sizes):
        left = len(sizes) - index
        needed = number - len(lengths)
        if lengths[-1] and (total + size > most or left <= needed):
            lengths.append(0)
            total = 0
        lengths[-1] += 1
        total += size
    return lengths


def _elements(grad):
    size = 1
    for dimension in grad.shape.as_list():
        if dimension is None:
            raise RefusedValue("a gradient of unknown shape cannot be shared among ranks")
        size *= dimension
    return size
