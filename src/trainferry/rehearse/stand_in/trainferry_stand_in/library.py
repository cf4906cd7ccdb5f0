"""The operators of the NPU's library that a CPU can compute; the others say that it cannot."""

import math

import tensorflow as tf

from trainferry_stand_in.calls import marked
from trainferry_stand_in.errors import only_on_device
from trainferry_stand_in.overflow import OverflowStatus

_STATUS = [8]


class Library:
    """What loading the library of the adapter gives: functions by name."""

    def __init__(self):
        self._status = OverflowStatus()

    def gelu(self, x, name=None):
        """The Gaussian error linear unit, by its approximation with tanh."""
        with tf.name_scope(name, "Gelu"), marked("Gelu"):
            x = tf.convert_to_tensor(x)
            inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
            return 0.5 * x * (1 + tf.tanh(inner))

    def fast_gelu(self, x, name=None):
        """The same unit, by a sigmoid."""
        with tf.name_scope(name, "FastGelu"), marked("FastGelu"):
            x = tf.convert_to_tensor(x)
            return x * tf.sigmoid(1.702 * x)

    def drop_out_gen_mask(self, shape, prob, seed=0, seed2=0, name=None):
        """Which numbers dropout keeps: one byte each, where the device packs bits."""
        with tf.name_scope(name, "DropOutGenMask"), marked("DropOutGenMask"):
            drawn = tf.random.uniform(shape, seed=seed or seed2 or None)
            return tf.cast(drawn < tf.cast(prob, tf.float32), tf.uint8)

    def drop_out_do_mask(self, x, mask, keep_prob, name=None):
        """What a mask keeps, scaled up."""
        with tf.name_scope(name, "DropOutDoMask"), marked("DropOutDoMask"):
            return x * tf.cast(mask, x.dtype) / tf.cast(keep_prob, x.dtype)

    def npu_alloc_float_status(self, name=None):
        """Room for the overflow status."""
        with marked("NpuAllocFloatStatus"):
            return tf.zeros(_STATUS, name=name or "NpuAllocFloatStatus")

    def npu_get_float_status(self, input, name=None):
        """The overflow status; the first number is above zero after an overflow."""
        with tf.control_dependencies([input]), marked("NpuGetFloatStatus"):
            first = tf.reshape(self._status.overflowed(), [1])
            return tf.concat([first, tf.zeros([_STATUS[0] - 1])], axis=0, name=name)

    def npu_clear_float_status(self, input, name=None):
        """The status set back to zero."""
        with tf.control_dependencies([input]), marked("NpuClearFloatStatus"):
            return tf.zeros(_STATUS, name=name or "NpuClearFloatStatus")

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)

        def absent(*args, **kwargs):
            only_on_device(name, "it is an operator of the NPU's library")

        return absent
