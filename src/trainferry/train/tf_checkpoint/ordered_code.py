"""The keys under which a checkpoint keeps the parts of a partitioned variable.

Such a key holds the variable's name and, per dimension, start and length of the part,
coded so that keys sort as what they mean.

Source: tensorflow/core/util/saved_tensor_slice_util.cc and lib/strings/ordered_code.cc.
"""

from __future__ import annotations

from collections.abc import Sequence

WHOLE = -1  # the length of a part that spans its dimension


def part_key(name: str, extents: Sequence[tuple[int, int]]) -> bytes:
    """Return the key of the part of `name` with these (start, length) extents."""
    key = bytearray(_number(0) + _text(name.encode()) + _number(len(extents)))
    for start, length in extents:
        key += _signed_number(start) + _signed_number(length)
    return bytes(key)


def is_part_key(key: bytes) -> bool:
    """Whether the key names a part: no variable's name starts with a zero byte."""
    return key.startswith(b"\x00")


def _number(value: int) -> bytes:
    digits = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return bytes([len(digits)]) + digits


def _text(value: bytes) -> bytes:
    """Escape zero bytes and end with 0 1; the other escape, for 255, is never met in UTF-8."""
    return value.replace(b"\x00", b"\x00\xff") + b"\x00\x01"


def _signed_number(value: int) -> bytes:
    """As many leading ones as bytes, then the number in two's complement (inverted if negative)."""
    magnitude = ~value if value < 0 else value
    size = magnitude.bit_length() // 7 + 1
    marker = ((1 << size) - 1) << (8 * size - size)
    return ((value ^ marker) & ((1 << 8 * size) - 1)).to_bytes(size, "big")
