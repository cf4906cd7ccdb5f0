"""TensorFlow's numbers for element types, and what NumPy calls them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

STRING = 7
BFLOAT16 = 14

# Quantised types (11, 12, 13, 15, 16) are stored as the integers they are made of.
_NAMES = {
    1: "float32",
    2: "float64",
    3: "int32",
    4: "uint8",
    5: "int16",
    6: "int8",
    STRING: "string",
    8: "complex64",
    9: "int64",
    10: "bool",
    11: "int8",
    12: "uint8",
    13: "int32",
    BFLOAT16: "bfloat16",
    15: "int16",
    16: "uint16",
    17: "uint16",
    18: "complex128",
    19: "float16",
    22: "uint32",
    23: "uint64",
}
_QUANTISED = {11, 12, 13, 15, 16}
_NUMBERS = {name: number for number, name in _NAMES.items() if number not in _QUANTISED}


def type_name(number: int) -> str:
    return _NAMES.get(number, f"type {number}")


def type_number(name: str) -> int | None:
    """TensorFlow's number for a NumPy type, None when TensorFlow 1.15 has no such type."""
    return _NUMBERS.get(name)


def stored_type(number: int, *, big_endian: bool) -> np.dtype[Any] | None:
    """How elements lie in the file; bfloat16 as raw 16 bits, None for what has no fixed size."""
    if number == STRING or number not in _NAMES:
        return None
    stored = np.dtype("uint16" if number == BFLOAT16 else _NAMES[number])
    return stored.newbyteorder(">" if big_endian else "<")


def native(stored: NDArray[Any], number: int) -> NDArray[Any]:
    """Return a copy in this machine's types; bfloat16 becomes float32 where ml_dtypes is absent.

    Every bfloat16 is a float32 with 16 bits fewer, so that loses nothing.
    """
    values = stored.astype(stored.dtype.newbyteorder("="), copy=True)
    if number != BFLOAT16:
        return values
    try:
        import ml_dtypes
    except ImportError:
        return (values.astype(np.uint32) << 16).view(np.float32)
    return values.view(ml_dtypes.bfloat16)
