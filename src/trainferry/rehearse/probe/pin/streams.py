"""Streams of random numbers: one for the main thread, one per other thread and host function.

Threads race for a shared stream; with streams of their own they draw the same numbers each time.
"""

import contextlib
import threading

from .callers import calling_function


class Streams(threading.local):
    """The stream of this thread; every thread makes its own when it first asks."""

    def __init__(self, main, make, seeds):
        self._make = make
        if threading.current_thread() is threading.main_thread():
            self.current = main
        else:
            self.current = make(seeds.next_of("thread", _purpose(threading.current_thread())))

    @contextlib.contextmanager
    def instead(self, stream):
        """Draw from `stream` in this thread."""
        before, self.current = self.current, stream
        try:
            yield
        finally:
            self.current = before

    def made(self, seed):
        """A new stream."""
        return self._make(seed)


def method_of_current(streams, name):
    """A function that calls the method `name` of the stream of whoever calls it."""

    def draw(*args, **kwargs):
        return getattr(streams.current, name)(*args, **kwargs)

    draw.__name__ = name
    return draw


def seed_of_current(streams, seeds, library):
    """`seed` of the stream of whoever calls it; asked for one of its own choice, it gets ours.

    `numpy_input_fn` and its like do so: they draw where an epoch begins.
    """

    def seed(*args, **kwargs):
        if next(iter([*args, *kwargs.values()]), None) is None:
            args, kwargs = (seeds.next_of(library + ".seed", calling_function(2)),), {}
        return streams.current.seed(*args, **kwargs)

    return seed


_all = []


def register(streams):
    """Remember the streams of a library, for `own_streams`."""
    _all.append(streams)


def own_streams(seed):
    """For each library that draws, its streams and a new one."""
    return [(streams, streams.made(seed)) for streams in _all]


def _purpose(thread):
    target = getattr(thread, "_target", None)
    return getattr(target, "__qualname__", type(thread).__name__)
