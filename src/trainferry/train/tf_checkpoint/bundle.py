"""Reads TensorFlow checkpoints (format V2, "tensor bundles") without TensorFlow.

A checkpoint is an index, a table from names to entries, and data files with the raw
values. Everything is compared before it is used: checksums of index and values, sizes
of the data files, and that the parts of a partitioned variable cover it.

Source: tensorflow/core/util/tensor_bundle/tensor_bundle.cc.
"""

from __future__ import annotations

import mmap
import struct
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trainferry.errors import CheckpointError
from trainferry.train.data.crc32c import crc32c, mask, masked_crc32c
from trainferry.train.tf_checkpoint.dtypes import STRING, native, stored_type, type_name
from trainferry.train.tf_checkpoint.entry import (
    Entry,
    Extents,
    Header,
    parse_entry,
    parse_header,
)
from trainferry.train.tf_checkpoint.locate import index_of
from trainferry.train.tf_checkpoint.ordered_code import WHOLE, is_part_key, part_key
from trainferry.train.tf_checkpoint.table import read_table
from trainferry.train.tf_checkpoint.wire import WireError, read_varint

_READER_VERSION = 1
_COPY_AGAIN = "copy the checkpoint again: its `.index` and every `.data-*-of-*` file"


def read_bundle(prefix: Path) -> Bundle:
    """Open a checkpoint; `prefix` with `.index` added is its index file.

    Raises CheckpointError when the index is damaged or a data file is missing or too short.
    """
    index = index_of(prefix)
    header, entries = _parse_index(index, read_table(index))
    data_bytes = _check_data_files(prefix, header, entries)
    return Bundle(prefix, header, entries, data_bytes)


class Bundle:
    """An open checkpoint: names, shapes and types at once, values when asked for."""

    def __init__(
        self, prefix: Path, header: Header, entries: dict[bytes, Entry], data_bytes: int
    ) -> None:
        self.prefix = prefix
        self._data_bytes = data_bytes
        self._header = header
        self._entries = entries
        self._maps: dict[int, mmap.mmap | bytes] = {}

    def names(self) -> list[str]:
        """Every tensor, sorted; a partitioned variable once."""
        return list(self._names)

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def shape(self, name: str) -> tuple[int, ...]:
        return self._entry(name).shape

    def dtype(self, name: str) -> str:
        """The type as NumPy calls it; also "bfloat16" and "string"."""
        return type_name(self._entry(name).dtype)

    def read(self, name: str) -> NDArray[Any]:
        """Return a copy of the values, their checksum compared.

        Strings come as an array of `bytes` objects. bfloat16 comes as `ml_dtypes.bfloat16`,
        or as float32, which holds the same values, where that package is absent.
        """
        entry = self._entry(name)
        if entry.parts:
            return self._read_parts(name, entry)
        return self._read_entry(name, entry)

    @cached_property
    def _names(self) -> dict[str, Entry]:
        return {
            key.decode("utf-8", "backslashreplace"): entry
            for key, entry in self._entries.items()
            if not is_part_key(key)
        }

    def _entry(self, name: str) -> Entry:
        entry = self._names.get(name)
        if entry is None:
            raise CheckpointError(
                f"{self.prefix} has no tensor `{name}`",
                hint="`trainferry import-checkpoint CKPT --list` shows the names",
            )
        return entry

    def _read_parts(self, name: str, whole: Entry) -> NDArray[Any]:
        """Assemble a partitioned variable; memory is taken only for parts that are there."""
        parts = [(extents, self._part(name, whole, extents)) for extents in whole.parts]
        if sum(part.elements for _, part in parts) != whole.elements:
            raise self._damage(name, "its parts do not add up to its shape")
        if sum(part.size for _, part in parts) > self._data_bytes:
            raise self._damage(name, "its parts claim more bytes than the data files have")
        values: NDArray[Any] | None = None
        covered = np.zeros(whole.shape, dtype=bool)
        for extents, part in parts:
            read = self._read_entry(name, part)
            if values is None:
                values = np.empty(whole.shape, dtype=read.dtype)
            place = _place(extents)
            values[place] = read
            covered[place] = True
        if values is None or not covered.all():
            raise self._damage(name, "its parts do not cover it")
        return values

    def _part(self, name: str, whole: Entry, extents: Extents) -> Entry:
        if len(extents) != len(whole.shape):
            raise self._damage(name, "a part has another number of dimensions")
        shape = tuple(
            size if length == WHOLE else length
            for size, (_, length) in zip(whole.shape, extents, strict=True)
        )
        for size, (start, _), length in zip(whole.shape, extents, shape, strict=True):
            if start + length > size:
                raise self._damage(name, f"a part reaches outside its shape {whole.shape}")
        part = self._entries.get(part_key(name, extents))
        if part is None or part.parts or (part.shape, part.dtype) != (shape, whole.dtype):
            raise self._damage(name, f"the part {extents} is missing or of another shape or type")
        return part

    def _read_entry(self, name: str, entry: Entry) -> NDArray[Any]:
        data = self._data(entry.shard)[entry.offset : entry.end]
        if len(data) != entry.size:
            raise self._damage(name, "its data file became shorter while it was open")
        if entry.dtype == STRING:
            return self._read_strings(name, entry, data)
        stored = stored_type(entry.dtype, big_endian=self._header.big_endian)
        if stored is None:
            raise CheckpointError(
                f"`{name}` in {self.prefix} has the TensorFlow {type_name(entry.dtype)}, "
                "which has no plain values",
                hint="leave this tensor out; only numbers, truth values and strings are read",
            )
        self._check(name, entry, masked_crc32c(data))
        return native(np.frombuffer(data, dtype=stored).reshape(entry.shape), entry.dtype)

    def _read_strings(self, name: str, entry: Entry, data: bytes) -> NDArray[Any]:
        """All lengths, their checksum, all characters; the entry's checksum is over the three."""
        lengths, at = [], 0
        try:
            for _ in range(entry.elements):
                length, at = read_varint(data, at)
                lengths.append(length)
        except WireError as error:
            raise self._damage(name, str(error)) from error
        text = at + 4
        if text + sum(lengths) != len(data):
            raise self._damage(name, "its strings do not fill their place")
        order = ">" if self._header.big_endian else "<"
        coded = b"".join(
            struct.pack(f"{order}{'Q' if length >> 32 else 'I'}", length) for length in lengths
        )
        stored = data[at:text]
        if struct.pack(f"{order}I", mask(crc32c(coded))) != stored:
            raise self._damage(name, "the checksum of its string lengths is wrong")
        self._check(name, entry, masked_crc32c(coded + data[at:]))

        values = np.empty(len(lengths), dtype=object)
        for number, length in enumerate(lengths):
            values[number] = data[text : text + length]
            text += length
        return values.reshape(entry.shape)

    def _check(self, name: str, entry: Entry, checksum: int) -> None:
        if checksum != entry.checksum:
            file = _data_file(self.prefix, entry.shard, self._header.shards)
            raise CheckpointError(
                f"the values of `{name}` in {file} (bytes {entry.offset} to {entry.end}) "
                "are damaged: their checksum is wrong",
                hint=_COPY_AGAIN,
            )

    def _data(self, shard: int) -> mmap.mmap | bytes:
        if shard not in self._maps:
            path = _data_file(self.prefix, shard, self._header.shards)
            with path.open("rb") as file:
                empty = path.stat().st_size == 0
                self._maps[shard] = (
                    b"" if empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                )
        return self._maps[shard]

    def _damage(self, name: str, what: str) -> CheckpointError:
        return CheckpointError(
            f"`{name}` in {index_of(self.prefix)} is damaged: {what}", hint=_COPY_AGAIN
        )


def _parse_index(index: Path, table: dict[bytes, bytes]) -> tuple[Header, dict[bytes, Entry]]:
    if b"" not in table:
        raise CheckpointError(
            f"{index} is a table, but not the index of a checkpoint: it has no header",
            hint="give the path of a checkpoint that tf.train.Saver or a SavedModel wrote",
        )
    name = b""
    entries: dict[bytes, Entry] = {}
    try:
        header = parse_header(table[b""])
        for name, message in table.items():
            if name:
                entries[name] = parse_entry(message)
    except WireError as error:
        raise CheckpointError(
            f"{index} is damaged: the entry `{name.decode(errors='replace')}` has {error}",
            hint=_COPY_AGAIN,
        ) from error
    if header.oldest_reader > _READER_VERSION:
        raise CheckpointError(
            f"{index} asks for a reader of version {header.oldest_reader}; "
            f"this one has version {_READER_VERSION}",
            hint="save the checkpoint with TensorFlow 1.15 or 2.x",
        )
    return header, entries


def _check_data_files(prefix: Path, header: Header, entries: dict[bytes, Entry]) -> int:
    """Compare what the entries ask for with the files they name; returns the files' bytes."""
    sizes: dict[int, int] = {}
    for key, entry in entries.items():
        if entry.parts:
            continue
        name = key.decode(errors="replace")
        if entry.shard >= header.shards or not entry.fills_its_shape():
            raise CheckpointError(
                f"{index_of(prefix)} is damaged: place and shape of `{name}` do not fit together",
                hint=_COPY_AGAIN,
            )
        path = _data_file(prefix, entry.shard, header.shards)
        if entry.shard not in sizes:
            sizes[entry.shard] = _size_of(path, header.shards)
        if entry.end > sizes[entry.shard]:
            raise CheckpointError(
                f"{path} is cut short: it has {sizes[entry.shard]} bytes, "
                f"but `{name}` ends at byte {entry.end}",
                hint=_COPY_AGAIN,
            )
    return sum(sizes.values())


def _size_of(path: Path, shards: int) -> int:
    if path.is_file():
        return path.stat().st_size
    stem = path.name.rpartition(".data-")[0]
    found = sorted(file.name for file in path.parent.iterdir() if file.name.startswith(stem))
    raise CheckpointError(
        f"the data file {path} is missing; files of this checkpoint: {', '.join(found)}",
        hint=f"copy all {shards} `.data-*-of-{shards:05d}` files to where the `.index` file is",
    )


def _data_file(prefix: Path, shard: int, shards: int) -> Path:
    return prefix.with_name(f"{prefix.name}.data-{shard:05d}-of-{shards:05d}")


def _place(extents: Extents) -> tuple[slice, ...]:
    return tuple(
        slice(None) if length == WHOLE else slice(start, start + length)
        for start, length in extents
    )
