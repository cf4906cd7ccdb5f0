"""Reads `.npz` files of plain numbers with the standard library alone, and compares them."""

from __future__ import annotations

import ast
import math
import operator
import struct
import sys
import zipfile
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trainferry.errors import RehearsalError

_MAGIC = b"\x93NUMPY"
# Kinds of numbers in `.npy` headers, and their letters in Python's `array`.
_LETTERS = {
    "f4": "f",
    "f8": "d",
    "i1": "b",
    "i2": "h",
    "i4": "i",
    "i8": "q",
    "u1": "B",
    "u2": "H",
    "u4": "I",
    "u8": "Q",
    "b1": "B",
}


@dataclass(frozen=True)
class Array:
    """Numbers in one row, and the shape that they have; `data` are their bytes in the file."""

    shape: tuple[int, ...]
    kind: str
    data: bytes

    @property
    def numbers(self) -> Sequence[float]:
        if self.kind[1:] == "f2":
            return struct.unpack(f"{self.kind[0]}{len(self.data) // 2}e", self.data)
        numbers = array(_LETTERS[self.kind[1:]], self.data)
        if self.kind[0] == (">" if sys.byteorder == "little" else "<"):
            numbers.byteswap()
        return numbers

    @property
    def size(self) -> int:
        return math.prod(self.shape)


def read_arrays(path: Path) -> dict[str, Array]:
    """All arrays of a file by name."""
    try:
        with zipfile.ZipFile(path) as file:
            return {
                name.removesuffix(".npy"): _read_array(file.read(name)) for name in file.namelist()
            }
    except (zipfile.BadZipFile, ValueError, SyntaxError, KeyError, struct.error) as error:
        raise RehearsalError(
            f"{path} cannot be read: {error}", hint="rehearse again; the run was cut short"
        ) from error


def _read_array(data: bytes) -> Array:
    if data[:6] != _MAGIC:
        raise ValueError("no array of NumPy")
    wide = data[6] >= 2
    (length,) = struct.unpack_from("<I" if wide else "<H", data, 8)
    start = (12 if wide else 10) + length
    header = ast.literal_eval(data[12 if wide else 10 : start].decode("latin-1"))
    kind, shape = str(header["descr"]), tuple(map(int, header["shape"]))
    if kind[1:] not in _LETTERS and kind[1:] != "f2":
        raise ValueError(f"numbers of kind {kind}")
    if header["fortran_order"] and len(shape) > 1:
        raise ValueError("numbers in the order of Fortran")
    values = data[start:]
    if len(values) != math.prod(shape) * int(kind[2:]):
        raise ValueError("an array without its end")
    return Array(shape, kind, values)


@dataclass(frozen=True)
class Difference:
    """How far two arrays of one shape are apart."""

    largest: float
    """The largest difference of two numbers; infinite where one is no number and the other is."""
    scale: float
    """The largest number of the first array, without its sign."""

    def relative(self, floor: float = 0.0) -> float:
        """The largest difference, in parts of the scale or of `floor`, whichever is larger."""
        if self.largest == 0:
            return 0.0
        unit = max(self.scale, floor)
        return self.largest / unit if unit > 0 else math.inf


def difference(first: Array, second: Array) -> Difference:
    """Compare number by number; two NaN, or two infinities of one sign, are equal."""
    ours = first.numbers
    scale = _largest(ours)
    if first.kind == second.kind and first.data == second.data:
        return Difference(0.0, scale if math.isfinite(scale) else 0.0)
    theirs = second.numbers
    if math.isfinite(scale) and math.isfinite(_largest(theirs)):
        return Difference(float(max(map(abs, map(operator.sub, ours, theirs)), default=0)), scale)
    largest = scale = 0.0
    for left, right in zip(ours, theirs, strict=True):
        if math.isfinite(left) and math.isfinite(right):
            largest = max(largest, abs(left - right))
            scale = max(scale, abs(left))
        elif not (left == right or (math.isnan(left) and math.isnan(right))):
            return Difference(math.inf, scale)
    return Difference(largest, scale)


def _largest(numbers: Sequence[float]) -> float:
    """The largest without sign; infinite as soon as one number is infinite or NaN."""
    if not numbers:
        return 0.0
    # `min` and `max` can pass over NaN; a sum cannot.
    if not math.isfinite(sum(numbers)):
        return math.inf
    return float(max(abs(min(numbers)), abs(max(numbers))))
