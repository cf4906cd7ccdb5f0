"""Channels on which the device sends tensors home; here queues of the process."""

import queue
import threading

import tensorflow as tf
from tensorflow.python.ops.script_ops import py_func_common

from trainferry_stand_in.calls import mark

LOG = "_npu_log"
_END = object()
_lock = threading.Lock()
_channels = {}


def enqueue(channel, inputs, name):
    """Put one row of tensors on a channel."""
    inputs = [tf.convert_to_tensor(value) for value in inputs]

    def put(*values):
        _channel(channel).put(values)

    operator = py_func_common(put, inputs, [], stateful=True, name=name or "OutfeedEnqueueOp")
    return mark(operator, "OutfeedEnqueueOp")


def dequeue(channel, dtypes, shapes, name):
    """Take one row from a channel; ends with the channel, or with the main thread."""
    types = [tf.as_dtype(dtype) for dtype in dtypes]

    def get():
        while threading.main_thread().is_alive():
            try:
                row = _channel(channel).get(timeout=0.2)
            except queue.Empty:
                continue
            if row is _END:
                _channel(channel).put(_END)
                break
            return list(row)
        raise StopIteration(f"channel `{channel}` has ended")

    rows = py_func_common(get, [], types, stateful=True, name=name or "OutfeedDequeueOp")
    mark(rows[0], "OutfeedDequeueOp")
    return [tf.ensure_shape(row, shape) for row, shape in zip(rows, shapes)]


def stop(channel, name):
    """End a channel."""

    def end():
        _channel(channel).put(_END)

    operator = py_func_common(end, [], [], stateful=True, name=name or "StopOutfeedDequeueOp")
    return mark(operator, "StopOutfeedDequeueOp")


def _channel(name):
    with _lock:
        return _channels.setdefault(name, queue.Queue())
