"""Reads TensorFlow checkpoints of the old format (V1) without TensorFlow.

One file, or some of which each has other variables, is a table: under the empty key what it
holds, under every other key one variable or a part of one, its values as a message. The weights
of TF-Slim, such as `inception_v3.ckpt`, are published so.

Source: tensorflow/core/util/saved_tensor_slice.proto, tensor_slice_writer.cc.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trainferry.errors import CheckpointError
from trainferry.train.tf_checkpoint.dtypes import BFLOAT16, STRING, native, stored_type, type_name
from trainferry.train.tf_checkpoint.entry import Extents, parse_extents, parse_shape
from trainferry.train.tf_checkpoint.ordered_code import WHOLE
from trainferry.train.tf_checkpoint.table import read_table
from trainferry.train.tf_checkpoint.wire import WireError, read_fields, read_varint

_SHARD = re.compile(r"-(?:\d{5}|\?{5})-of-(\d{5})$")
_COPY_AGAIN = "copy the checkpoint again, all of its files"
_HALF = 19

# Where a message keeps the values of a type, and how they lie there.
_RAW = {1: (5, "<f4"), 2: (6, "<f8"), 8: (9, "<c8"), 18: (12, "<c16")}
_VARINTS = {9: 10, 10: 11, _HALF: 13, BFLOAT16: 13}
_INTEGERS = 7


@dataclass
class _Variable:
    dtype: int
    shape: tuple[int, ...]
    parts: list[tuple[Extents, bytes]] = field(default_factory=list)


class OldCheckpoint:
    """An open checkpoint: names, shapes and types at once, values when asked for."""

    def __init__(self, prefix: Path, variables: dict[str, _Variable]) -> None:
        self.prefix = prefix
        self._variables = variables

    def names(self) -> list[str]:
        return sorted(self._variables)

    def __contains__(self, name: str) -> bool:
        return name in self._variables

    def shape(self, name: str) -> tuple[int, ...]:
        return self._variable(name).shape

    def dtype(self, name: str) -> str:
        return type_name(self._variable(name).dtype)

    def read(self, name: str) -> NDArray[Any]:
        variable = self._variable(name)
        try:
            return _assemble(variable)
        except WireError as error:
            raise CheckpointError(
                f"`{name}` in {self.prefix} is damaged: {error}", hint=_COPY_AGAIN
            ) from error

    def _variable(self, name: str) -> _Variable:
        if name not in self._variables:
            raise CheckpointError(
                f"{self.prefix} has no tensor `{name}`",
                hint="`trainferry import-checkpoint CKPT --list` shows the names",
            )
        return self._variables[name]


def files_of(path: Path) -> list[Path]:
    """Return the files of a checkpoint of which `path` is one, or names all with `?????`."""
    match = _SHARD.search(path.name)
    if match is None:
        return [path]
    stem, count = path.name[: match.start()], int(match[1])
    return [path.with_name(f"{stem}-{number:05d}-of-{count:05d}") for number in range(count)]


def read_old_checkpoint(path: Path) -> OldCheckpoint:
    """Open a checkpoint; raises CheckpointError when a file is missing or damaged."""
    variables: dict[str, _Variable] = {}
    for file in files_of(path):
        if not file.is_file():
            raise CheckpointError(f"{file} is missing", hint=_COPY_AGAIN)
        table = read_table(file)
        if b"" not in table:
            raise CheckpointError(
                f"{file} is a table, but no checkpoint: it does not say what it holds",
                hint="give a checkpoint that tf.train.Saver wrote",
            )
        try:
            _add(variables, table)
        except WireError as error:
            raise CheckpointError(f"{file} is damaged: {error}", hint=_COPY_AGAIN) from error
    return OldCheckpoint(path, variables)


def _add(variables: dict[str, _Variable], table: dict[bytes, bytes]) -> None:
    (meta,) = _messages(table[b""], 1)
    for message in _messages(meta, 1):
        fields = dict(read_fields(message))
        name, shape, dtype = fields.get(1), fields.get(2, b""), fields.get(3, 0)
        if not isinstance(name, bytes) or not isinstance(shape, bytes) or isinstance(dtype, bytes):
            raise WireError("an entry that names no variable")
        known = variables.setdefault(_text(name), _Variable(dtype, parse_shape(shape)))
        if (known.dtype, known.shape) != (dtype, parse_shape(shape)):
            raise WireError(f"two variables `{_text(name)}` of different type or shape")
    for key, value in table.items():
        if key:
            for message in _messages(value, 2):
                _add_part(variables, dict(read_fields(message)))


def _add_part(variables: dict[str, _Variable], fields: dict[int, int | bytes]) -> None:
    name, extents, values = (fields.get(number, b"") for number in (1, 2, 3))
    assert isinstance(name, bytes), "read_fields gives bytes or numbers"
    if not isinstance(extents, bytes) or not isinstance(values, bytes):
        raise WireError("values without a place")
    variable = variables.get(_text(name))
    if variable is None:
        raise WireError(f"values of `{_text(name)}`, which it does not list")
    variable.parts.append((parse_extents(extents), values))


def _assemble(variable: _Variable) -> NDArray[Any]:
    """Put the parts together; memory is taken only for values that are there."""
    placed = [_place(variable.shape, extents) for extents, _ in variable.parts]
    parts = [
        (place, _values(variable, message, shape))
        for (place, shape), (_, message) in zip(placed, variable.parts, strict=True)
    ]
    if not parts or sum(values.size for _, values in parts) != math.prod(variable.shape):
        raise WireError(f"its parts do not add up to its shape {variable.shape}")
    whole = np.empty(variable.shape, parts[0][1].dtype)
    covered = np.zeros(variable.shape, bool)
    for place, values in parts:
        whole[place] = values
        covered[place] = True
    if not covered.all():
        raise WireError("its parts do not cover it")
    return whole


def _place(shape: tuple[int, ...], extents: Extents) -> tuple[tuple[slice, ...], tuple[int, ...]]:
    if len(extents) != len(shape):
        raise WireError("a part has another number of dimensions")
    sizes = []
    for size, (start, length) in zip(shape, extents, strict=True):
        sizes.append(size if length == WHOLE else length)
        if start + sizes[-1] > size:
            raise WireError(f"a part reaches outside its shape {shape}")
    starts = [start for start, _ in extents]
    places = (slice(start, start + size) for start, size in zip(starts, sizes, strict=True))
    return tuple(places), tuple(sizes)


def _values(variable: _Variable, message: bytes, shape: tuple[int, ...]) -> NDArray[Any]:
    count, number = math.prod(shape), variable.dtype
    if number == STRING:
        texts = _messages(message, 8)
        values = np.empty(len(texts), dtype=object)
        values[:] = texts
    elif number in _RAW:
        place, stored = _RAW[number]
        values = np.frombuffer(b"".join(_messages(message, place)), stored)
    else:
        values = _whole_numbers(number, message)
    if len(values) != count:
        raise WireError(f"{len(values)} values for a shape of {count}")
    return values.reshape(shape) if number == STRING else native(values.reshape(shape), number)


def _whole_numbers(number: int, message: bytes) -> NDArray[Any]:
    """Whole numbers, truth values and 16-bit floats travel as varints."""
    stored = stored_type(number, big_endian=False)
    if stored is None:
        raise WireError(f"the {type_name(number)}, which has no plain values")
    numbers = []
    for packed in _messages(message, _VARINTS.get(number, _INTEGERS)):
        at = 0
        while at < len(packed):
            value, at = read_varint(packed, at)
            numbers.append(value)
    values = np.array(numbers, np.uint64)
    if number == _HALF:
        return values.astype("<u2").view("<f2")
    return values.astype(stored)  # negative numbers are 64-bit complements: the low bits stay


def _messages(message: bytes, wanted: int) -> list[bytes]:
    found = [value for number, value in read_fields(message) if number == wanted]
    if not all(isinstance(value, bytes) for value in found):
        raise WireError("a number where a message belongs")
    return [value for value in found if isinstance(value, bytes)]


def _text(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace")
