"""Pins `random` of Python: seeded at the start, with streams of their own for threads."""

import random

from .callers import calling_function, is_users
from .streams import Streams, method_of_current, register, seed_of_current


def pin(seeds):
    """Seed the module's functions; a seed that the script sets later replaces ours."""
    shared = random._inst
    streams = Streams(shared, _plain, seeds)
    register(streams)
    shared.seed(seeds.of("random"))
    for name, value in list(vars(random).items()):
        if getattr(value, "__self__", None) is shared:
            setattr(random, name, method_of_current(streams, name))
    random.seed = seed_of_current(streams, seeds, "random")
    random.Random = _pinned_class(seeds)


_plain = random.Random


def _pinned_class(seeds):
    class Random(_plain):
        """A generator; one that the user makes without a seed gets one."""

        def __init__(self, x=None):
            import sys

            if x is None and is_users(sys._getframe(1).f_code.co_filename):
                x = seeds.next_of("random.Random", calling_function(2))
            super().__init__(x)

        def __new__(cls, *args):
            return super().__new__(cls)

    return Random
