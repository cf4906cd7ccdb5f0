"""Writes checkpoints that TensorFlow 1.15 and 2.x read."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trainferry.errors import CheckpointError
from trainferry.train.data.crc32c import crc32c, mask, masked_crc32c
from trainferry.train.data.whole_file import WholeFile
from trainferry.train.tf_checkpoint.dtypes import STRING, type_name, type_number
from trainferry.train.tf_checkpoint.entry import Entry, build_entry, build_header
from trainferry.train.tf_checkpoint.locate import index_of
from trainferry.train.tf_checkpoint.table import build_table
from trainferry.train.tf_checkpoint.wire import write_varint


def write_checkpoint(path: Path, tensors: Mapping[str, NDArray[Any]]) -> None:
    """Write `path`.index and `path`.data-00000-of-00001; the index, written last, makes it one."""
    entries = [(b"", build_header(shards=1))]
    offset = 0
    with WholeFile(index_of(path)) as index:
        with WholeFile(path.with_name(f"{path.name}.data-00000-of-00001")) as data:
            for name in sorted(tensors, key=str.encode):
                if not name or "\0" in name:
                    raise CheckpointError(
                        f"{name!r} cannot be the name of a tensor", hint="give it a name"
                    )
                number, stored, checksum = _encode(name, np.asarray(tensors[name]))
                shape = np.shape(tensors[name])
                entry = Entry(number, shape, 0, offset, len(stored), checksum)
                entries.append((name.encode(), build_entry(entry)))
                data.write(stored)
                offset += len(stored)
        index.write(build_table(entries))


def _encode(name: str, values: NDArray[Any]) -> tuple[int, bytes, int]:
    """Return TensorFlow's number of the type, the bytes as stored, and their checksum."""
    if values.dtype.kind in "OS":
        return STRING, *_encode_strings(name, values)
    number = type_number(values.dtype.name)
    if number is None:
        raise CheckpointError(
            f"`{name}` has the type {values.dtype.name}, which TensorFlow has not",
            hint="convert it to float32, int64 or another type of TensorFlow",
        )
    little = values.astype(values.dtype.newbyteorder("<"), copy=False)
    stored = np.ascontiguousarray(little).tobytes()
    return number, stored, masked_crc32c(stored)


def _encode_strings(name: str, values: NDArray[Any]) -> tuple[bytes, int]:
    strings = values.ravel().tolist()
    if not all(isinstance(string, bytes) for string in strings):
        raise CheckpointError(
            f"`{name}` is an array of objects that are not all bytes",
            hint=f"encode text before writing it as a TensorFlow {type_name(STRING)}",
        )
    lengths = b"".join(struct.pack("<I", len(string)) for string in strings)
    tail = struct.pack("<I", mask(crc32c(lengths))) + b"".join(strings)
    stored = b"".join(write_varint(len(string)) for string in strings) + tail
    return stored, masked_crc32c(lengths + tail)
