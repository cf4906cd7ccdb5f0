"""The overflow status of the device, which a rehearsal sets at will.

TRAINFERRY_OVERFLOW holds the steps that overflow, counted from 1 by each question of an
optimizer: `3`, `2,5-7`. `set_overflow_steps` does the same from a test.
"""

import os
import threading

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.script_ops import py_func_common

from trainferry_stand_in.calls import mark
from trainferry_stand_in.errors import RefusedValue

VARIABLE = "TRAINFERRY_OVERFLOW"
_lock = threading.Lock()
_steps = {}


def set_overflow_steps(text):
    """Overflow at these steps from now on; None goes back to the environment."""
    with _lock:
        if text is None:
            _steps.pop("set", None)
        else:
            _steps["set"] = parse_steps(text)


def parse_steps(text):
    """`2,5-7` as pairs of first and last step."""
    parts = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        if not first.isdigit() or (last and not last.isdigit()):
            raise RefusedValue(f"{VARIABLE}={text!r}: write steps as `3` or `2,5-7`")
        parts.append((int(first), int(last or first)))
    return parts


class OverflowStatus:
    """The status of one optimizer; every run of `overflowed` is one step."""

    def __init__(self):
        self._asked = 0

    def overflowed(self):
        """A scalar that is 1 in the steps that overflow, else 0."""
        (status,) = py_func_common(self._ask, [], [tf.float32], stateful=True, name="FloatStatus")
        return mark(tf.ensure_shape(mark(status, "NpuGetFloatStatus"), []), "NpuGetFloatStatus")

    def _ask(self):
        with _lock:
            self._asked += 1
            steps = _steps.get("set")
            if steps is None:
                steps = parse_steps(os.environ.get(VARIABLE, ""))
            return np.float32(any(first <= self._asked <= last for first, last in steps))
