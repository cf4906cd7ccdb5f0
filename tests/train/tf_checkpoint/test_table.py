"""Tables: what is written comes back, and damage is told with file and place."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainferry.errors import CheckpointError
from trainferry.train.data.crc32c import masked_crc32c
from trainferry.train.tf_checkpoint.snappy import decompress
from trainferry.train.tf_checkpoint.table import build_table, is_table, read_table
from trainferry.train.tf_checkpoint.wire import WireError, write_varint

# Made by the reference implementation of Snappy.
SNAPPY = b"\xc5\x02\x1cweights/" + b"\xfe\x08\x00" * 4 + b"\xde\x08\x00\x10\x00\x01end"
SNAPPY_PLAIN = b"weights/" * 40 + b"\x00\x01end"


def test_a_table_of_many_blocks_comes_back(tmp_path: Path) -> None:
    items = {f"layer_{number:06d}/kernel".encode(): b"x" * (number % 50) for number in range(20000)}
    path = tmp_path / "many.index"
    path.write_bytes(build_table(sorted(items.items())))
    assert path.stat().st_size > 2 * 256 * 1024
    assert list(read_table(path).items()) == sorted(items.items())


def test_an_empty_table_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "empty.index"
    path.write_bytes(build_table([]))
    assert read_table(path) == {}


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"text " * 100])
def test_a_file_of_another_kind_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.index"
    path.write_bytes(content)
    assert not is_table(path)
    with pytest.raises(CheckpointError, match=r"other\.index"):
        read_table(path)


def test_a_damaged_block_is_told_with_its_place(tmp_path: Path) -> None:
    content = bytearray(build_table([(b"a", b"1"), (b"b", b"2")]))
    content[3] ^= 1
    path = tmp_path / "flipped.index"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"flipped\.index is damaged at byte 0: the checksum"):
        read_table(path)


def test_a_compressed_block_is_read(tmp_path: Path) -> None:
    plain = entry(0, b"key", b"value") + struct.pack("<2I", 0, 1)
    literal = write_varint(len(plain)) + bytes([len(plain) - 1 << 2]) + plain
    path = table_of_block(tmp_path, literal, kind=1)
    assert read_table(path) == {b"key": b"value"}


def test_an_unknown_compression_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"compressed in an unknown way \(9\)"):
        read_table(table_of_block(tmp_path, struct.pack("<2I", 0, 1), kind=9))


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        (b"\x01", "no room for its restart points"),
        (struct.pack("<I", 1 << 30), "cannot hold 1073741824 restart points"),
        (b"\xff" * 12 + struct.pack("<2I", 0, 1), "a number does not end"),
        (b"\x00\x7f\x00key" + struct.pack("<2I", 0, 1), "reaches outside"),
        (b"\x05\x01\x00k" + struct.pack("<2I", 0, 1), "reaches outside"),
        (b"\x00\x01\x00b\x00\x01\x00a" + struct.pack("<2I", 0, 1), "not in order"),
    ],
)
def test_nonsense_with_a_right_checksum_is_refused(
    tmp_path: Path, block: bytes, reason: str
) -> None:
    with pytest.raises(CheckpointError, match=reason):
        read_table(table_of_block(tmp_path, block))


def test_keys_cannot_be_made_to_grow_without_end(tmp_path: Path) -> None:
    block = bytearray(entry(0, b"k" * 20000, b""))
    length = 20000
    for _ in range(5000):
        block += entry(length, b"k", b"")
        length += 1
    with pytest.raises(CheckpointError, match="bytes of keys"):
        read_table(table_of_block(tmp_path, bytes(block) + struct.pack("<2I", 0, 1)))


def test_snappy_bytes_of_the_reference_implementation_are_decompressed() -> None:
    assert decompress(SNAPPY) == SNAPPY_PLAIN


def test_snappy_bytes_cut_anywhere_are_refused() -> None:
    for length in range(len(SNAPPY)):
        with pytest.raises(WireError):
            decompress(SNAPPY[:length])


def test_snappy_cannot_claim_more_than_it_can_hold() -> None:
    with pytest.raises(WireError, match="cannot hold"):
        decompress(write_varint(1 << 40) + b"\x00x")


@given(st.binary(max_size=200))
def test_snappy_never_fails_in_another_way(data: bytes) -> None:
    try:
        plain = decompress(data)
    except WireError:
        return
    assert len(plain) <= 32 * len(data)


def entry(shared: int, rest: bytes, value: bytes) -> bytes:
    return b"".join(map(write_varint, (shared, len(rest), len(value)))) + rest + value


def table_of_block(folder: Path, block: bytes, kind: int = 0) -> Path:
    """A table whose only data block is this one, its checksum right."""
    content = bytearray()

    def append(data: bytes, kind: int = 0) -> bytes:
        place = write_varint(len(content)) + write_varint(len(data))
        stored = data + bytes([kind])
        content.extend(stored + struct.pack("<I", masked_crc32c(stored)))
        return place

    place = append(block, kind)
    footer = append(struct.pack("<2I", 0, 1))
    footer += append(entry(0, b"z", place) + struct.pack("<2I", 0, 1))
    content.extend(footer.ljust(40, b"\x00") + build_table([])[-8:])
    path = folder / "made.index"
    path.write_bytes(content)
    return path
