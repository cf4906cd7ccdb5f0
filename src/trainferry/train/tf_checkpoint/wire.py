"""The protobuf wire format, as far as checkpoints need it.

Offsets in errors are those of the buffer given; the caller knows the file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class WireError(ValueError):
    """Bytes that are no message; callers say which file they came from."""


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at `at`, below 2**64, and the place after it."""
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >> 64:
                raise WireError(f"a number of more than 64 bits ends at byte {at}")
            return value, at
        shift += 7
    raise WireError(f"a number does not end before byte {at}")


def read_fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield field number and value; messages and strings come as bytes, fixed fields as ints."""
    at = 0
    while at < len(data):
        tag, at = read_varint(data, at)
        number, kind = tag >> 3, tag & 7
        value: int | bytes
        if kind == _VARINT:
            value, at = read_varint(data, at)
        elif kind == _BYTES:
            size, at = read_varint(data, at)
            value, at = _cut(data, at, size), at + size
        elif kind == _FIXED32:
            value, at = int.from_bytes(_cut(data, at, 4), "little"), at + 4
        elif kind == _FIXED64:
            value, at = int.from_bytes(_cut(data, at, 8), "little"), at + 8
        else:
            raise WireError(f"field {number} before byte {at} has the unknown kind {kind}")
        yield number, value


def signed(value: int) -> int:
    """What an int64 field means: negative numbers travel as their 64-bit complement."""
    return value - (1 << 64) if value >> 63 else value


def write_varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def varint_field(number: int, value: int) -> bytes:
    """A field as proto3 writes it: zero is not written at all."""
    return write_varint(number << 3 | _VARINT) + write_varint(value) if value else b""


def bytes_field(number: int, value: bytes) -> bytes:
    return write_varint(number << 3 | _BYTES) + write_varint(len(value)) + value


def fixed32_field(number: int, value: int) -> bytes:
    return write_varint(number << 3 | _FIXED32) + struct.pack("<I", value)


def _cut(data: bytes, at: int, size: int) -> bytes:
    if at + size > len(data):
        raise WireError(f"a field of {size} bytes at byte {at} is longer than its message")
    return data[at : at + size]
