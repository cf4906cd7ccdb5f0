"""Types of 16 bits: how numbers are rounded to them, and what they can hold."""

import numpy as np


class Half:
    """IEEE half precision: few powers of two, ten bits of fraction."""

    name = "fp16"
    largest = 65504.0
    smallest = 2.0**-24
    """The smallest above zero; what is at most half of it becomes zero."""
    normal = 2.0**-14
    """The smallest with all bits of precision."""

    @staticmethod
    def rounded(array):
        with np.errstate(over="ignore"):
            return array.astype(np.float16).astype(np.float32)


class Brain:
    """Bfloat16: the range of 32 bits, seven bits of fraction."""

    name = "bf16"
    largest = 3.3895313892515355e38
    smallest = 2.0**-133
    normal = 2.0**-126

    @staticmethod
    def rounded(array):
        bits = np.ascontiguousarray(array).view(np.uint32)
        # To the nearest, and to even in the middle: the upper half of the bits, with a carry.
        kept = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
        kept = kept.astype(np.uint32).view(np.float32).reshape(np.shape(array))
        return np.where(np.isfinite(array), kept, array).astype(np.float32)


TYPES_BY_NAME = {kind.name: kind for kind in (Half, Brain)}
