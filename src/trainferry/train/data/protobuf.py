"""The fields of a protobuf message: read without a copy, and copied once when it is written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from trainferry.errors import DataError, RecordError

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5


def messages(view: memoryview, wanted: int) -> Iterator[memoryview]:
    for number, wire, value in fields(view):
        if number == wanted and wire == LENGTH:
            yield value


def fields(view: memoryview) -> Iterator[tuple[int, int, memoryview]]:
    position, end = 0, len(view)
    while position < end:
        number, wire, value, position = read_field(view, position)
        yield number, wire, value


def read_field(view: memoryview, position: int) -> tuple[int, int, memoryview, int]:
    """Return field number, wire type, value, and where the next field starts.

    The value of a varint is its own bytes.
    """
    tag, position = _varint(view, position)
    wire = tag & 7
    if wire == LENGTH:
        size, position = _varint(view, position)
    elif wire == VARINT:
        size = _varint(view, position)[1] - position
    elif wire in (FIXED64, FIXED32):
        size = 8 if wire == FIXED64 else 4
    else:
        raise broken(f"wire type {wire}")
    stop = position + size
    if stop > len(view):
        raise broken(f"a field of {size} bytes where {len(view) - position} are left")
    return tag >> 3, wire, view[position:stop], stop


def varints(view: memoryview) -> Iterator[int]:
    position = 0
    while position < len(view):
        value, position = _varint(view, position)
        yield value - (1 << 64) if value >> 63 else value


def field_of(parts: Sequence[bytes], number: int = 1) -> list[bytes]:
    """Put tag and length before the parts: joined once at the end, a picture is copied once."""
    size = sum(map(len, parts))
    return [encode_varint(number << 3 | LENGTH), encode_varint(size), *parts]


@lru_cache(maxsize=1024)
def encode_varint(value: int) -> bytes:
    if not -(1 << 63) <= value < 1 << 63:
        raise DataError(f"{value} does not fit 64 bits", hint="use smaller numbers in a feature")
    value &= 0xFFFFFFFFFFFFFFFF
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def broken(what: str) -> RecordError:
    return RecordError(
        f"the record is no tf.train.Example: it has {what}",
        hint="make the record file again, or run `trainferry data check` to list such records",
    )


def _varint(view: memoryview | bytes, position: int) -> tuple[int, int]:
    try:
        value = view[position]
        position += 1
        if value < 128:
            return value, position
        value &= 127
        for shift in range(7, 70, 7):
            byte = view[position]
            position += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value & 0xFFFFFFFFFFFFFFFF, position
    except IndexError:
        pass
    raise broken("a number without an end")
