"""Arrays are read from `.npz` files by us, and a file cut short is told."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import pytest

from tests.rehearse.compare.recorded_runs import write_npz
from trainferry.errors import RehearsalError
from trainferry.rehearse.comparing.arrays import Array, difference, read_arrays


@pytest.mark.parametrize("kind", ["<f8", "<f4", ">f4", "<f2", "<i8"])
def test_numbers_of_every_kind_are_read(tmp_path: Path, kind: str) -> None:
    write_npz(tmp_path / "a.npz", {"a": [1, -2, 3], "b/c": 5}, kind)
    arrays = read_arrays(tmp_path / "a.npz")
    assert list(arrays["a"].numbers) == [1, -2, 3]
    assert arrays["b/c"].shape == ()
    assert list(arrays["b/c"].numbers) == [5]


def test_what_numpy_writes_is_read(tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    given = {
        "flags": numpy.array([True, False]),
        "table": numpy.arange(6, dtype=numpy.float32).reshape(2, 3),
        "long": numpy.zeros((2, 3, 4, 5), numpy.int64),
        "none": numpy.zeros((0, 3), numpy.float32),
    }
    numpy.savez_compressed(tmp_path / "a.npz", **given)
    arrays = read_arrays(tmp_path / "a.npz")
    for name, array in given.items():
        assert arrays[name].shape == array.shape
        assert list(arrays[name].numbers) == array.ravel().tolist()


@pytest.mark.parametrize(
    "data",
    [b"", b"not numpy at all", b"\x93NUMPY\x01\x00" + struct.pack("<H", 4) + b"{}  "],
)
def test_what_is_no_array_is_told(tmp_path: Path, data: bytes) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as file:
        file.writestr("a.npy", data)
    with pytest.raises(RehearsalError, match="cannot be read"):
        read_arrays(tmp_path / "a.npz")


def test_a_file_cut_short_is_told(tmp_path: Path) -> None:
    write_npz(tmp_path / "a.npz", {"a": [1.0] * 100})
    whole = (tmp_path / "a.npz").read_bytes()
    (tmp_path / "a.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(RehearsalError, match="cannot be read"):
        read_arrays(tmp_path / "a.npz")


def test_objects_that_would_need_a_pickle_are_refused(tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    numpy.savez(tmp_path / "a.npz", a=numpy.array([{}], dtype=object))
    with pytest.raises(RehearsalError, match="numbers of kind"):
        read_arrays(tmp_path / "a.npz")


def array(*numbers: float) -> Array:
    return Array((len(numbers),), "<f4", struct.pack(f"<{len(numbers)}f", *numbers))


def test_a_difference_is_in_parts_of_the_largest_number() -> None:
    found = difference(array(1, -4), array(1, -3))
    assert (found.largest, found.scale, found.relative()) == (1, 4, 0.25)
    assert found.relative(floor=10) == 0.1


def test_anything_beside_zeros_is_infinitely_far() -> None:
    assert difference(array(0, 0), array(0, 1e-30)).relative() == float("inf")
    assert difference(array(0, 0), array(0, 0)).relative() == 0


def test_empty_arrays_are_equal() -> None:
    assert difference(array(), array()).relative() == 0
