"""Finds constants that a type of 16 bits cannot hold: epsilons that vanish, masks that overflow."""

import numpy as np
from tensorflow.python.framework import tensor_util

from ..watch.places import line_of
from .kinds import ROUNDED

_MOST = 4096  # larger constants are data
_CHANGED = 0.01


def tell_constants(operators, kind, counts):
    """Tell of the constants among `operators` that rounded operators read."""
    for op in operators:
        if op.type != "Const" or op.outputs[0].dtype.name != "float32":
            continue
        value = tensor_util.MakeNdarray(op.get_attr("value"))
        if value.size > _MOST or not any(one.type in ROUNDED for one in op.outputs[0].consumers()):
            continue
        worst = worst_of(value, kind)
        if worst is not None:
            counts.tell(
                "constant",
                operator=op.name,
                place=line_of(op),
                value=worst[0],
                becomes=worst[1] if np.isfinite(worst[1]) else str(worst[1]),
            )


def worst_of(value, kind):
    """The number that rounding changes most, and what it becomes; None if by less than 1 %."""
    numbers = np.ravel(value)
    numbers = numbers[np.isfinite(numbers) & (numbers != 0)].astype(np.float32)
    if not numbers.size:
        return None
    rounded = kind.rounded(numbers)
    changed = np.abs(rounded.astype(np.float64) - numbers) / np.abs(numbers.astype(np.float64))
    place = int(np.argmax(changed))
    if changed[place] < _CHANGED:
        return None
    return float(numbers[place]), float(rounded[place])
