"""Where each record of a file starts, found once and kept beside the file."""

from __future__ import annotations

import json
import struct
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from trainferry.counted import counted
from trainferry.errors import RecordError
from trainferry.train.data.beside import read_beside, write_beside
from trainferry.train.data.crc32c import crc32c, masked_crc32c, masked_crc32c_of_rows

Facts: TypeAlias = dict[str, str | int]

HEADER_BYTES = 12
FRAME_BYTES = 16
_FORMAT = "trainferry record index 1"
_SEARCH_BYTES = 1 << 20
_FIRST_SEARCH_BYTES = 1 << 24
_CHUNK = 1 << 16

_KINDS = (
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"\x89PNG", "a PNG picture"),
    (b"GIF8", "a GIF picture"),
    (b"\x1f\x8b", "compressed with gzip"),
    (b"BZh", "compressed with bzip2"),
    (b"\xfd7zXZ", "compressed with xz"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"%PDF", "a PDF document"),
)


@dataclass(frozen=True)
class Damage:
    """A part of a record file that cannot be read."""

    path: Path
    offset: int
    bytes: int
    reason: str
    records_before: int

    def __str__(self) -> str:
        return (
            f"{self.path}: {self.reason} at byte {self.offset}, "
            f"after {counted(self.records_before, 'good record')}; "
            f"{counted(self.bytes, 'byte')} skipped"
        )


def read_or_make_index(path: Path, view: memoryview) -> tuple[NDArray[np.uint64], list[Damage]]:
    """Return the offset of every record and what is damaged.

    The index is kept in `<file>.index`; where that cannot be written it is made anew each time.
    """
    beside = path.with_name(path.name + ".index")
    status = path.stat()
    facts: Facts = {"format": _FORMAT, "bytes": len(view), "changed": status.st_mtime_ns}
    kept = _read_index(beside, facts, path)
    if kept is not None:
        return kept
    offsets, damage = _make_index(path, view)
    _write_index(beside, facts, offsets, damage)
    return offsets, damage


def _make_index(path: Path, view: memoryview) -> tuple[NDArray[np.uint64], list[Damage]]:
    runs: list[NDArray[np.uint64]] = []
    damage: list[Damage] = []
    start = count = 0
    while start < len(view):
        run, stop, reason = _follow(view, start)
        runs.append(run)
        count += len(run)
        if not reason:
            break
        if not count and stop == 0 and reason != "truncated record":
            start = _search(view, 1, min(len(view), _FIRST_SEARCH_BYTES))
            if start == len(view) or start >= _FIRST_SEARCH_BYTES:
                raise _another_kind(path, view)
        else:
            start = _search(view, stop + 1, len(view))
        damage.append(Damage(path, stop, start - stop, reason, count))
    return np.concatenate(runs) if runs else np.empty(0, np.uint64), damage


def _follow(view: memoryview, start: int) -> tuple[NDArray[np.uint64], int, str]:
    """Step from length to length; returns the good offsets, where it stopped, and why."""
    unpack = struct.Struct("<Q").unpack_from
    runs: list[NDArray[np.uint64]] = [np.empty(0, np.uint64)]
    offset, last = start, len(view) - HEADER_BYTES
    while offset <= last:
        # Compared in portions: in a file of zeros every sixteenth byte would be a place.
        offsets: list[int] = []
        while offset <= last and len(offsets) < _CHUNK:
            offsets.append(offset)
            offset += FRAME_BYTES + unpack(view, offset)[0]
        runs.append(np.array(offsets, dtype=np.uint64))
        good = _good_lengths(view, runs[-1])
        if not good.all():
            bad = int(np.argmin(good))
            found = np.concatenate([*runs[:-1], runs[-1][:bad]])
            return found, offsets[bad], "length that does not match its checksum"
    found = np.concatenate(runs)
    if offset == len(view):
        return found, offset, ""
    if offset > len(view):
        return found[:-1], int(found[-1]), "truncated record"
    return found, offset, "truncated header" if start < offset else "no record header"


def _good_lengths(view: memoryview, offsets: NDArray[np.uint64]) -> NDArray[np.bool_]:
    values = np.frombuffer(view, dtype=np.uint8)
    good = np.empty(len(offsets), dtype=np.bool_)
    columns = np.arange(HEADER_BYTES)
    for start in range(0, len(offsets), _CHUNK):
        chunk = offsets[start : start + _CHUNK].astype(np.intp)
        rows = values[chunk[:, None] + columns]
        stored = np.ascontiguousarray(rows[:, 8:]).view("<u4")[:, 0]
        good[start : start + len(chunk)] = masked_crc32c_of_rows(rows[:, :8]) == stored
    return good


def _search(view: memoryview, start: int, end: int) -> int:
    """Return where the next intact record starts, or the end of the file."""
    values = np.frombuffer(view, dtype=np.uint8)
    for begin in range(start, end - FRAME_BYTES + 1, _SEARCH_BYTES):
        stop = min(begin + _SEARCH_BYTES, len(view) - FRAME_BYTES + 1)
        # No record is 4 GiB long, so the upper half of a length is zero: few places remain.
        zero = values[begin : stop + 7] == 0
        size = stop - begin
        likely = zero[4 : 4 + size] & zero[5 : 5 + size] & zero[6 : 6 + size] & zero[7 : 7 + size]
        places = (np.flatnonzero(likely) + begin).astype(np.uint64)
        for place in places[_good_lengths(view, places)].tolist():
            if _is_intact(view, place):
                return int(place)
    return len(view)


def _is_intact(view: memoryview, offset: int) -> bool:
    length = struct.unpack_from("<Q", view, offset)[0]
    start = offset + HEADER_BYTES
    if start + length + 4 > len(view):
        return False
    stored = struct.unpack_from("<I", view, start + length)[0]
    return masked_crc32c(view[start : start + length]) == stored


def _another_kind(path: Path, view: memoryview) -> RecordError:
    head = bytes(view[:512])
    what = next((name for magic, name in _KINDS if head.startswith(magic)), "")
    if not what and all(byte in b"\t\n\r" or byte >= 32 for byte in head):
        try:
            head[:500].decode("utf-8", "strict")
            what = "text"
        except UnicodeDecodeError:
            what = ""
    message = f"`{path}` is no record file: its first bytes are no record header"
    if what.startswith("compressed"):
        return RecordError(
            f"`{path}` is {what}; records must lie in it as they are",
            hint="decompress the file first, for example with gzip -d",
        )
    return RecordError(
        f"{message}; it looks like {what}" if what else message,
        hint="pass TFRecord files, as `trainferry data` writes them",
    )


def _read_index(
    beside: Path, facts: Facts, path: Path
) -> tuple[NDArray[np.uint64], list[Damage]] | None:
    """Return the kept index, or None where there is none for exactly this file."""
    kept = read_beside(beside)
    if kept is None:
        return None
    header, body = kept
    if any(header.get(key) != facts[key] for key in facts):
        return None
    crc = header.pop("crc", None)
    if crc != crc32c(body + json.dumps(header, sort_keys=True).encode()):
        return None
    damage = [Damage(path, **item) for item in header["damage"]]
    return np.frombuffer(body, dtype="<u8"), damage


def _write_index(
    beside: Path, facts: Facts, offsets: NDArray[np.uint64], damage: list[Damage]
) -> None:
    items = [{key: value for key, value in asdict(one).items() if key != "path"} for one in damage]
    header = {**facts, "damage": items}
    body = offsets.astype("<u8").tobytes()
    crc = crc32c(body + json.dumps(header, sort_keys=True).encode())
    write_beside(beside, {**header, "crc": crc}, body)
