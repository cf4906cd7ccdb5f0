"""Pins `numpy.random`: seeded at the start, with streams of their own for threads."""

from .callers import calling_function
from .streams import Streams, method_of_current, register, seed_of_current

# Functions of the module that are no methods of its generator in every version.
_BY_HAND = {"ranf": "random_sample", "sample": "random_sample"}


def pin(numpy, seeds):
    """Seed the module's functions; a seed that the script sets later replaces ours."""
    module = numpy.random
    shared = module.mtrand._rand
    streams = Streams(shared, module.RandomState, seeds)
    register(streams)
    shared.seed(seeds.of("numpy.random"))
    for name, value in list(vars(module).items()):
        if getattr(value, "__self__", None) is shared:
            setattr(module, name, method_of_current(streams, name))
    for name, method in _BY_HAND.items():
        setattr(module, name, method_of_current(streams, method))
    module.seed = seed_of_current(streams, seeds, "numpy.random")
    _pin_unseeded(module, seeds)


def _pin_unseeded(module, seeds):
    plain = module.RandomState

    class Kind(type):
        def __instancecheck__(cls, value):
            return isinstance(value, plain)

    class RandomState(plain, metaclass=Kind):
        """A generator; without a seed it gets one that depends on who makes it."""

        def __init__(self, seed=None):
            if seed is None:
                seed = seeds.next_of("numpy.random.RandomState", calling_function(2))
            super().__init__(seed)

        def __reduce__(self):
            made = plain()
            made.set_state(self.get_state())
            return made.__reduce__()

    module.RandomState = RandomState
    if not hasattr(module, "default_rng"):
        return
    plain_rng = module.default_rng

    def default_rng(seed=None):
        if seed is None:
            seed = seeds.next_of("numpy.random.default_rng", calling_function(2))
        return plain_rng(seed)

    module.default_rng = default_rng
