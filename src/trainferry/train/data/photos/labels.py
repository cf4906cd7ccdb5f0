"""The label of every photograph of a record file, found once and kept beside the file.

Pictures are skipped: of a record, only the names of features and the label are looked at.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from trainferry.errors import RecordError
from trainferry.train.data.beside import read_beside, write_beside
from trainferry.train.data.crc32c import crc32c
from trainferry.train.data.example import split_example
from trainferry.train.data.photos.example import read_label
from trainferry.train.data.record_index import HEADER_BYTES
from trainferry.train.data.tfrecord import RecordFile

Labels: TypeAlias = NDArray[np.int32]

# In place of the label of a record; real labels are 0 or more.
NO_LABEL, NO_EXAMPLE, BELOW_ZERO = -1, -2, -3
_FORMAT = "trainferry photo labels 1"
_MOST = int(np.iinfo(np.int32).max) - 1


def find_labels(file: RecordFile) -> Labels:
    """Return the labels as they were written; a negative number says why there is none.

    They are kept in `<file>.labels`; where that cannot be written they are found each time.
    """
    beside = file.path.with_name(file.path.name + ".labels")
    status = file.path.stat()
    facts: dict[str, str | int] = {
        "format": _FORMAT,
        "bytes": status.st_size,
        "changed": status.st_mtime_ns,
        "records": len(file),
    }
    kept = _read_kept(beside, facts)
    if kept is not None:
        return kept
    labels = _search(file)
    _keep(beside, facts, labels)
    return labels


def _search(file: RecordFile) -> Labels:
    labels = np.empty(len(file), np.int32)
    if not len(file):
        return labels
    unpack = struct.Struct("<Q").unpack_from
    with file.path.open("rb") as opened:
        whole = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    view = memoryview(whole)
    for number, offset in enumerate(file.offsets.tolist()):
        start = offset + HEADER_BYTES
        labels[number] = _label_or_reason(view[start : start + unpack(view, offset)[0]])
    return labels


def _label_or_reason(data: memoryview) -> int:
    try:
        label = read_label(split_example(data))
    except RecordError:
        return NO_EXAMPLE
    if label is None:
        return NO_LABEL
    return BELOW_ZERO if label < 0 else min(label, _MOST)


def _read_kept(beside: Path, facts: dict[str, str | int]) -> Labels | None:
    """Return the kept labels, or None where there are none for exactly this file."""
    kept = read_beside(beside)
    if kept is None:
        return None
    header, body = kept
    if header != {**facts, "crc": crc32c(body)} or len(body) != 4 * int(facts["records"]):
        return None
    return np.frombuffer(body, dtype="<i4").astype(np.int32)


def _keep(beside: Path, facts: dict[str, str | int], labels: Labels) -> None:
    body = labels.astype("<i4").tobytes()
    write_beside(beside, {**facts, "crc": crc32c(body)}, body)
