"""Reads and writes sorted tables of keys and values, the format of a checkpoint's index file.

A table is a list of blocks, each followed by its kind and a checksum: data blocks, an
empty block, a block that lists the data blocks, and 48 bytes that say where that is.

Source: https://github.com/google/leveldb/blob/main/doc/table_format.md
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

from trainferry.errors import CheckpointError
from trainferry.train.data.crc32c import masked_crc32c
from trainferry.train.tf_checkpoint.snappy import decompress
from trainferry.train.tf_checkpoint.wire import WireError, read_varint, write_varint

_MAGIC = 0xDB4775248B80FB57
_FOOTER_BYTES = 48
_TRAILER_BYTES = 5
_PLAIN, _SNAPPY = b"\x00", b"\x01"
_BLOCK_BYTES = 256 * 1024
_RESTART_EVERY = 16
_DAMAGED = "the file is damaged or was not copied completely: copy it again from where it was saved"


def is_table(path: Path) -> bool:
    """Whether the file ends as a table does; its blocks are not looked at."""
    size = path.stat().st_size
    if size < _FOOTER_BYTES:
        return False
    with path.open("rb") as file:
        file.seek(size - 8)
        return file.read(8) == struct.pack("<Q", _MAGIC)


def read_table(path: Path) -> dict[bytes, bytes]:
    """Read a table whole, in the order of its keys, every checksum compared.

    The memory it takes is bounded by the size of the file, whatever the file says.
    """
    if not is_table(path):
        raise CheckpointError(
            f"{path} does not end as a checkpoint index ends (at byte {path.stat().st_size})",
            hint=_DAMAGED,
        )
    content = path.read_bytes()
    footer = len(content) - _FOOTER_BYTES
    try:
        empty, index = _parse_footer(content[footer:])
    except WireError as error:
        raise _damage(path, footer, str(error)) from error

    list(_read_block(path, content, *empty))
    table: dict[bytes, bytes] = {}
    last = b""
    for _, handle in _read_block(path, content, *index):
        try:
            offset, at = read_varint(handle, 0)
            size, _ = read_varint(handle, at)
        except WireError as error:
            raise _damage(path, index[0], str(error)) from error
        for key, value in _read_block(path, content, offset, size):
            if table and key <= last:
                raise _damage(path, offset, "its keys are not in order")
            table[key] = value
            last = key
    return table


def build_table(items: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Build a table; the keys must come sorted."""
    content = bytearray()
    handles: list[tuple[bytes, bytes]] = []
    block: list[tuple[bytes, bytes]] = []
    size = 0
    for key, value in items:
        block.append((key, value))
        size += len(key) + len(value)
        if size >= _BLOCK_BYTES:
            handles.append((key, _append_block(content, block)))
            block, size = [], 0
    if block:
        handles.append((_short_successor(block[-1][0]), _append_block(content, block)))
    footer = _append_block(content, []) + _append_block(content, handles)
    content += footer.ljust(_FOOTER_BYTES - 8, b"\x00") + struct.pack("<Q", _MAGIC)
    return bytes(content)


def _parse_footer(footer: bytes) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return offset and size of the empty block and of the list of data blocks."""
    numbers, at = [], 0
    for _ in range(4):
        number, at = read_varint(footer, at)
        numbers.append(number)
    if b"".join(map(write_varint, numbers)).ljust(_FOOTER_BYTES - 8, b"\x00") != footer[:-8]:
        raise WireError("its last 48 bytes hold something besides the two places")
    return (numbers[0], numbers[1]), (numbers[2], numbers[3])


def _read_block(
    path: Path, content: bytes, offset: int, size: int
) -> Iterator[tuple[bytes, bytes]]:
    end = offset + size
    if end + _TRAILER_BYTES + _FOOTER_BYTES > len(content):
        raise _damage(path, offset, f"a block of {size} bytes does not fit into the file")
    block, kind = content[offset:end], content[end : end + 1]
    (expected,) = struct.unpack_from("<I", content, end + 1)
    if masked_crc32c(block + kind) != expected:
        raise _damage(path, offset, f"the checksum of a block of {size} bytes is wrong")
    if kind not in (_PLAIN, _SNAPPY):
        raise _damage(path, offset, f"the block is compressed in an unknown way ({kind[0]})")
    try:
        yield from _parse_block(decompress(block) if kind == _SNAPPY else block)
    except WireError as error:
        raise _damage(path, offset, str(error)) from error


def _parse_block(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the entries; each key is stored as what differs from the key before."""
    if len(block) < 4:
        raise WireError("a block has no room for its restart points")
    (restarts,) = struct.unpack_from("<I", block, len(block) - 4)
    end = len(block) - 4 - 4 * restarts
    if end < 0:
        raise WireError(f"a block of {len(block)} bytes cannot hold {restarts} restart points")

    at, key, key_bytes = 0, b"", 0
    while at < end:
        shared, at = read_varint(block, at)
        unshared, at = read_varint(block, at)
        value_size, at = read_varint(block, at)
        if shared > len(key) or at + unshared + value_size > end:
            raise WireError(f"an entry at byte {at} of a block reaches outside it")
        key = key[:shared] + block[at : at + unshared]
        at += unshared
        key_bytes += len(key)
        if key_bytes > 4 * _RESTART_EVERY * len(block):
            raise WireError(f"{len(block)} bytes claim to hold more than {key_bytes} bytes of keys")
        yield key, block[at : at + value_size]
        at += value_size


def _append_block(content: bytearray, entries: list[tuple[bytes, bytes]]) -> bytes:
    """Append one block with its checksum; returns its place as the list of blocks stores it."""
    block = bytearray()
    restarts = []
    last = b""
    for number, (key, value) in enumerate(entries):
        shared = _common_bytes(last, key)
        if number % _RESTART_EVERY == 0:
            restarts.append(len(block))
            shared = 0
        for size in (shared, len(key) - shared, len(value)):
            block += write_varint(size)
        block += key[shared:] + value
        last = key
    restarts = restarts or [0]
    block += struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts))

    place = write_varint(len(content)) + write_varint(len(block))
    checksum = masked_crc32c(bytes(block) + _PLAIN)
    content += block + _PLAIN + struct.pack("<I", checksum)
    return place


def _short_successor(key: bytes) -> bytes:
    """The shortest key not before this one, with which the list of blocks ends."""
    at = next((at for at, byte in enumerate(key) if byte < 0xFF), None)
    return key if at is None else key[:at] + bytes([key[at] + 1])


def _common_bytes(a: bytes, b: bytes) -> int:
    """How many bytes two keys share at their start."""
    different = (at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y)
    return next(different, min(len(a), len(b)))


def _damage(path: Path, offset: int, what: str) -> CheckpointError:
    return CheckpointError(f"{path} is damaged at byte {offset}: {what}", hint=_DAMAGED)
