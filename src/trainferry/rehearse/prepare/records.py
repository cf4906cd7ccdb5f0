"""Cuts record files of TensorFlow to their first records, by their framing alone.

A record is its length (8 bytes), a checksum of the length (4), its bytes, and a checksum of them
(4). The first checksum tells such a file from any other.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_HEAD = struct.Struct("<QI")
_FOOT_BYTES = 4
_LARGEST_BYTES = 1 << 30
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Cut:
    """A record file of which the first records were kept."""

    name: str
    records: int
    bytes: int
    bytes_before: int

    def __str__(self) -> str:
        before, now = self.bytes_before / 1e6, self.bytes / 1e6
        return f"{self.name}: first {self.records:,} records, {now:,.1f} of {before:,.1f} MB"


def is_record_file(path: Path) -> bool:
    """Whether the first record is framed as such; an empty file is none."""
    try:
        with path.open("rb") as file:
            length = _read_length(file)
            return length is not None and length + _HEAD.size + _FOOT_BYTES <= _size(file)
    except OSError:
        return False


def cut_records(source: Path, target: Path, most: int) -> Cut | None:
    """Copy the first `most` records of `source`; None, and no file, if there are no more."""
    with source.open("rb") as file:
        size = _size(file)
        end, records = _end_of(file, size, most)
        if end >= size or records == 0:
            return None
        file.seek(0)
        _copy(file, target, end)
    return Cut(source.name, records, end, size)


def _end_of(file: BinaryIO, size: int, most: int) -> tuple[int, int]:
    """Where the first `most` whole records end, and how many they are."""
    end = records = 0
    while records < most:
        length = _read_length(file)
        if length is None or end + _HEAD.size + length + _FOOT_BYTES > size:
            break
        end += _HEAD.size + length + _FOOT_BYTES
        file.seek(end)
        records += 1
    return end, records


def _read_length(file: BinaryIO) -> int | None:
    head = file.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    length, checksum = _HEAD.unpack(head)
    if length > _LARGEST_BYTES or masked_checksum(head[:8]) != checksum:
        return None
    return int(length)


def _size(file: BinaryIO) -> int:
    return os.fstat(file.fileno()).st_size


def _copy(file: BinaryIO, target: Path, length: int) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("wb") as out:
        while length:
            block = file.read(min(_BLOCK, length))
            out.write(block)
            length -= len(block)


def masked_checksum(data: bytes) -> int:
    """CRC-32C, turned and moved as TensorFlow does so that a checksum of checksums works."""
    value = 0xFFFFFFFF
    for byte in data:
        value = _TABLE[(value ^ byte) & 0xFF] ^ (value >> 8)
    value ^= 0xFFFFFFFF
    return (((value >> 15) | (value << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def _table() -> list[int]:
    table = []
    for number in range(256):
        value = number
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _table()
