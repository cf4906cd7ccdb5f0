"""Gives every function that a graph calls on the host its own streams of Python and NumPy."""

import contextlib
import functools

from tensorflow.python.framework import ops
from tensorflow.python.ops import script_ops

from .graph_draws import number_of
from .streams import own_streams

_OURS = ("trainferry_stand_in", "npu_bridge", "hccl", "trainferry_probe")


def pin(seeds):
    """Pin what `tf.py_func`, `tf.numpy_function` and `Dataset.from_generator` draw."""
    register = script_ops._internal_py_func

    @functools.wraps(register)
    def _internal_py_func(func, *args, **kwargs):
        return register(_with_streams(func, seeds), *args, **kwargs)

    script_ops._internal_py_func = _internal_py_func


def _with_streams(function, seeds):
    module = getattr(function, "__module__", None) or ""
    if module.split(".")[0] in _OURS:
        return function
    name = getattr(function, "__name__", type(function).__name__)
    seed = seeds.of_draw(number_of(ops.get_default_graph()), "host function", name, None)
    streams = own_streams(seed)

    @functools.wraps(function)
    def called(*args, **kwargs):
        with contextlib.ExitStack() as stack:
            for every, own in streams:
                stack.enter_context(every.instead(own))
            return function(*args, **kwargs)

    return called
