"""Pins input queues: first in, first out, filled by one thread that takes its sources in turn.

What a shuffling queue gives depends on how far its threads are; no seed can pin that.
"""

import functools
import itertools

from tensorflow.python.ops import data_flow_ops
from tensorflow.python.training import queue_runner_impl


def pin():
    """Make queues give the same elements in the same order each time."""
    data_flow_ops.RandomShuffleQueue.__init__ = _in_order
    runner = queue_runner_impl.QueueRunner
    create = runner.create_threads

    @functools.wraps(create)
    def create_threads(self, *args, **kwargs):
        every = self._enqueue_ops
        self._enqueue_ops = [_InTurn(every)]
        try:
            return create(self, *args, **kwargs)
        finally:
            self._enqueue_ops = every

    runner.create_threads = create_threads
    run = runner._run

    @functools.wraps(run)
    def _run(self, sess, enqueue_op, coord=None):
        return run(self, _OneThread(sess), enqueue_op, coord)

    runner._run = _run


class _InTurn:
    """Operators that fill a queue; the same one given several times counts once."""

    def __init__(self, operators):
        self.operators = list(dict.fromkeys(operators))
        self.name = self.operators[0].name if self.operators else ""


class _OneThread:
    """A session whose callable runs operators one after the other."""

    def __init__(self, session):
        self._session = session
        self.graph = session.graph

    def __getattr__(self, name):
        return getattr(self._session, name)

    def __hash__(self):
        return hash(self._session)

    def __eq__(self, other):
        # Sessions have a `_session` too, of another kind.
        return self._session is (other._session if isinstance(other, _OneThread) else other)

    def make_callable(self, fetches, *args, **kwargs):
        if not isinstance(fetches, _InTurn):
            return self._session.make_callable(fetches, *args, **kwargs)
        calls = [self._session.make_callable(operator) for operator in fetches.operators]
        turns = itertools.cycle(calls)

        def fill():
            next(turns)()

        return fill


def _in_order(
    self,
    capacity,
    min_after_dequeue,
    dtypes,
    shapes=None,
    names=None,
    seed=None,
    shared_name=None,
    name="random_shuffle_queue",
):
    queue = data_flow_ops.FIFOQueue(capacity, dtypes, shapes, names, shared_name, name)
    data_flow_ops.QueueBase.__init__(self, queue.dtypes, queue.shapes, queue.names, queue.queue_ref)
