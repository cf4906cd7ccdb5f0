"""Puts the watch around the sessions of TensorFlow.

`BaseSession._do_run` is where every run of a session passes once its fetches and feeds are known;
the stand-in's loops are around it, so that each of their steps passes too. Keras and queue runners
do not pass it: they make callables.
"""

import functools
import sys

from tensorflow.core.protobuf import config_pb2
from tensorflow.python.client import session as client

from . import device
from .facts_file import is_ours, write_fact
from .own_calls import is_own_call
from .places import user_line
from .runs import is_training, run_of
from .session_facts import describe, number_of
from .steps import take_step


def install():
    """Patch the session class."""
    base = client.BaseSession
    base.__init__ = _describing(base.__init__)
    base.close = _noting_close(base.close)
    base._do_run = _watching(base._do_run)
    base.make_callable = _watching_simple_callables(base.make_callable)
    base._make_callable_from_options = _watching_callables(base._make_callable_from_options)


def _describing(original):
    @functools.wraps(original)
    def init(self, *args, **kwargs):
        original(self, *args, **kwargs)
        if is_ours() and not is_own_call():
            describe(self)

    return init


def _noting_close(original):
    @functools.wraps(original)
    def close(self):
        # A session that the collector finds was not closed by the script.
        collected = sys._getframe(1).f_code.co_name == "__del__"
        if not collected and not getattr(self, "_closed", True):
            write_fact("session_closed", id=number_of(self), place=user_line())
        original(self)

    return close


def _watching(original):
    @functools.wraps(original)
    def do_run(self, handle, target_list, fetch_list, feed_dict, options, run_metadata):
        if handle is not None or is_own_call() or not is_ours():
            return original(self, handle, target_list, fetch_list, feed_dict, options, run_metadata)
        feeds = {_tensor(key): value for key, value in feed_dict.items()}
        run = run_of(
            self,
            [operator.name for operator in target_list],
            [tensor.name for tensor in fetch_list],
            [tensor.name for tensor in feeds],
        )
        device.note_run(run)
        if not run.train:
            return original(self, handle, target_list, fetch_list, feed_dict, options, run_metadata)

        def execute(tensors):
            results = original(
                self, handle, target_list, fetch_list + tensors, feed_dict, options, run_metadata
            )
            return results[: len(fetch_list)], results[len(fetch_list) :]

        return take_step(self, run, feeds, execute)

    return do_run


def _tensor(key):
    """A key of feeds; TensorFlow 2 wraps tensors to compare them by identity."""
    return key.deref() if hasattr(key, "deref") else key


def _watching_simple_callables(original):
    @functools.wraps(original)
    def make_callable(self, fetches, feed_list=None, accept_options=False):
        if feed_list is None and is_ours() and not is_own_call():
            handler = client._FetchHandler(self.graph, fetches, {})
            targets = [operator.name for operator in handler.targets()]
            if is_training(self, targets, [tensor.name for tensor in handler.fetches()]):
                return functools.partial(self.run, fetches)
        return original(self, fetches, feed_list, accept_options)

    return make_callable


def _watching_callables(original):
    @functools.wraps(original)
    def make(self, callable_options):
        if is_own_call() or not is_ours():
            return original(self, callable_options)
        options = config_pb2.CallableOptions()
        options.CopyFrom(callable_options)
        connections = [(pair.from_tensor, pair.to_tensor) for pair in options.tensor_connection]
        feeds = list(options.feed)
        run = run_of(self, list(options.target), list(options.fetch), feeds, connections)
        if not run.train:
            return original(self, callable_options)
        count = len(options.fetch)
        options.fetch.extend(tensor.name for tensor in run.wanted)
        tensors = [self.graph.get_tensor_by_name(name) for name in feeds]
        return _WatchedCallable(self, run, original(self, options), tensors, count)

    return make


class _WatchedCallable:
    """A callable of Keras whose every call is a train step."""

    def __init__(self, session, run, function, feeds, count):
        self._session = session
        self._run = run
        self._function = function
        self._feeds = feeds
        self._count = count

    def __call__(self, *args, **kwargs):
        def execute(tensors):
            results = self._function(*args, **kwargs)
            return results[: self._count], results[self._count :]

        return take_step(self._session, self._run, dict(zip(self._feeds, args)), execute)
