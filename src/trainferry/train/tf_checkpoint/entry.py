"""The messages of a checkpoint's index: one header, and one entry per tensor.

Source: tensorflow/core/protobuf/tensor_bundle.proto.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from trainferry.train.tf_checkpoint.dtypes import STRING, stored_type
from trainferry.train.tf_checkpoint.ordered_code import WHOLE
from trainferry.train.tf_checkpoint.wire import (
    WireError,
    bytes_field,
    fixed32_field,
    read_fields,
    signed,
    varint_field,
)

Extents = tuple[tuple[int, int], ...]

_MOST_DIMENSIONS = 32  # NumPy 1 has no more
_MOST_ELEMENTS = 1 << 58


@dataclass(frozen=True)
class Header:
    """How many data files there are, the byte order, and the oldest reader allowed."""

    shards: int
    big_endian: bool
    oldest_reader: int


@dataclass(frozen=True)
class Entry:
    """Where a tensor lies; a partitioned one lies in the parts that `parts` lists."""

    dtype: int
    shape: tuple[int, ...]
    shard: int = 0
    offset: int = 0
    size: int = 0
    checksum: int = 0
    parts: tuple[Extents, ...] = ()

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def end(self) -> int:
        return self.offset + self.size

    def fills_its_shape(self) -> bool:
        """Whether the size fits type and shape; a string takes one byte or more."""
        stored = stored_type(self.dtype, big_endian=False)
        if stored is None:
            return self.dtype != STRING or self.size >= self.elements
        return self.size == self.elements * stored.itemsize


def parse_header(message: bytes) -> Header:
    shards, big_endian, oldest_reader = 0, False, 0
    for number, value in read_fields(message):
        if number == 1:
            shards = _integer(value)
        elif number == 2:
            big_endian = _integer(value) == 1
        elif number == 3:
            oldest_reader = next((_integer(v) for n, v in read_fields(_bytes(value)) if n == 2), 0)
    return Header(shards, big_endian, oldest_reader)


def parse_entry(message: bytes) -> Entry:
    integers = {1: 0, 3: 0, 4: 0, 5: 0, 6: 0}
    shape: tuple[int, ...] = ()
    parts: list[Extents] = []
    for number, value in read_fields(message):
        if number in integers:
            integers[number] = _size(value)
        elif number == 2:
            shape = parse_shape(_bytes(value))
        elif number == 7:
            parts.append(parse_extents(_bytes(value)))
    return Entry(
        dtype=integers[1],
        shape=shape,
        shard=integers[3],
        offset=integers[4],
        size=integers[5],
        checksum=integers[6],
        parts=tuple(parts),
    )


def build_header(shards: int) -> bytes:
    return varint_field(1, shards) + bytes_field(3, varint_field(1, 1))


def build_entry(entry: Entry) -> bytes:
    """Serialise an entry that is no partitioned variable."""
    sizes = (bytes_field(2, varint_field(1, size)) for size in entry.shape)
    return (
        varint_field(1, entry.dtype)
        + bytes_field(2, b"".join(sizes))
        + varint_field(3, entry.shard)
        + varint_field(4, entry.offset)
        + varint_field(5, entry.size)
        + fixed32_field(6, entry.checksum)
    )


def parse_shape(message: bytes) -> tuple[int, ...]:
    shape = []
    for number, value in read_fields(message):
        if number == 3 and value:
            raise WireError("a tensor of unknown rank")
        if number == 2:
            shape.append(next((_size(v) for n, v in read_fields(_bytes(value)) if n == 1), 0))
    if len(shape) > _MOST_DIMENSIONS:
        raise WireError(f"a tensor of {len(shape)} dimensions")
    if math.prod(max(size, 1) for size in shape) >= _MOST_ELEMENTS:
        raise WireError(f"the impossible shape {shape}")
    return tuple(shape)


def parse_extents(message: bytes) -> Extents:
    extents = []
    for number, value in read_fields(message):
        if number == 1:
            extent = {n: _size(v) for n, v in read_fields(_bytes(value))}
            extents.append((extent.get(1, 0), extent.get(2, WHOLE)))
    return tuple(extents)


def _integer(value: int | bytes) -> int:
    if isinstance(value, bytes):
        raise WireError("text where a number belongs")
    return value


def _size(value: int | bytes) -> int:
    number = signed(_integer(value))
    if number < 0:
        raise WireError(f"the size {number}")
    return number


def _bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise WireError("a number where a message belongs")
    return value
