"""Checkpoints in TensorFlow's old format, as TensorFlow 1.15.5 wrote them (files/make_files.py)."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from trainferry.errors import CheckpointError
from trainferry.train.tf_checkpoint.read import read_checkpoint
from trainferry.train.tf_checkpoint.table import build_table, read_table
from trainferry.train.tf_checkpoint.wire import bytes_field, varint_field

FILES = Path(__file__).parent / "files"
NUMBERS = np.array([[-2.5, 0.0, 1.0], [3.14159, 65504.0, -0.0]])
FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16")


@pytest.mark.parametrize("given", ["old_format/model.ckpt", "old_format"])
def test_every_type_is_exact(given: str) -> None:
    checkpoint = read_checkpoint(FILES / given)
    for name in FLOATS:
        assert checkpoint.dtype(name) == name
        assert checkpoint.read(name).tobytes() == NUMBERS.astype(name).tobytes()
    for name in INTEGERS:
        limits = np.iinfo(name)
        assert checkpoint.dtype(name) == name
        assert checkpoint.read(name).tolist() == [limits.min, 0, limits.max]
    assert checkpoint.read("bool").tolist() == [True, False, True]
    for name in ("complex64", "complex128"):
        assert checkpoint.read(name).tolist() == [1 + 2j, -3.5j]
    assert checkpoint.read("strings").tolist() == [b"", b"one", b"\x00\xff"]
    assert checkpoint.read("scalar").shape == ()
    assert checkpoint.read("scalar") == 1234567890123


def test_parts_of_a_variable_are_put_together() -> None:
    table = read_checkpoint(FILES / "old_format").read("columns/table")
    assert np.array_equal(table, np.arange(240, dtype=np.float32).reshape(40, 6))


@pytest.mark.parametrize("given", ["", "model.ckpt-00000-of-00002", "model.ckpt-00001-of-00002"])
def test_all_files_are_found_from_one_of_them(given: str) -> None:
    checkpoint = read_checkpoint(FILES / "old_format_sharded" / given)
    assert checkpoint.names() == ["on_0", "on_1"]
    assert checkpoint.read("on_1").tolist() == [1.0, 1.0]


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    shutil.copytree(FILES / "old_format_sharded", tmp_path / "a")
    (tmp_path / "a" / "model.ckpt-00001-of-00002").unlink()
    with pytest.raises(CheckpointError, match=r"00001-of-00002 is missing"):
        read_checkpoint(tmp_path / "a")


def test_a_name_that_is_not_there_is_told() -> None:
    with pytest.raises(CheckpointError, match="has no tensor `nothing`"):
        read_checkpoint(FILES / "old_format").shape("nothing")


def test_a_table_that_lists_nothing_is_no_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "model.ckpt"
    path.write_bytes(build_table([(b"a", b"b")]))
    with pytest.raises(CheckpointError, match="does not say what it holds"):
        read_checkpoint(path)


def test_a_changed_byte_is_told(tmp_path: Path) -> None:
    content = bytearray((FILES / "old_format" / "model.ckpt").read_bytes())
    content[100] ^= 1
    path = tmp_path / "model.ckpt"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="checksum"):
        read_checkpoint(path)


def test_a_shape_that_the_values_do_not_fill_takes_no_memory(tmp_path: Path) -> None:
    size = bytes_field(2, varint_field(1, 1 << 40))
    meta = bytes_field(1, b"huge") + bytes_field(2, size) + varint_field(3, 1)
    extents = bytes_field(2, bytes_field(1, b""))
    value = bytes_field(1, b"huge") + extents + bytes_field(3, bytes_field(5, b"\x00" * 8))
    items = [(b"", bytes_field(1, bytes_field(1, meta))), (b"\x00huge", bytes_field(2, value))]
    path = tmp_path / "model.ckpt"
    path.write_bytes(build_table(items))
    checkpoint = read_checkpoint(path)
    assert checkpoint.shape("huge") == (1 << 40,)
    with pytest.raises(CheckpointError, match="2 values for a shape of 1099511627776"):
        checkpoint.read("huge")


def test_values_that_are_not_listed_are_told(tmp_path: Path) -> None:
    table = read_table(FILES / "old_format" / "model.ckpt")
    path = tmp_path / "model.ckpt"
    path.write_bytes(build_table([(b"", bytes_field(1, b"")), *list(table.items())[1:]]))
    with pytest.raises(CheckpointError, match="which it does not list"):
        read_checkpoint(path)
