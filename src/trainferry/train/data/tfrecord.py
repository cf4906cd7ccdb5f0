"""Record files of TensorFlow: written whole, read from memory maps, checked by checksum.

uint64 length | uint32 masked CRC of the length | data | uint32 masked CRC of the data
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trainferry.counted import counted
from trainferry.errors import DataError, RecordError
from trainferry.train.data.crc32c import masked_crc32c
from trainferry.train.data.mapped_file import map_file
from trainferry.train.data.picture_names import holds_pictures
from trainferry.train.data.record_index import Damage, read_or_make_index
from trainferry.train.data.whole_file import WholeFile

if TYPE_CHECKING:
    from typing_extensions import Buffer

_HEADER = struct.Struct("<QI")
_CRC = struct.Struct("<I")
SUFFIXES = (".tfrecords", ".tfrecord")


class RecordWriter:
    """Writes one record file inside a `with` block; the file appears when the block ends well."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.count = 0
        self._file = WholeFile(path)

    def __enter__(self) -> RecordWriter:
        self._file.__enter__()
        return self

    def write(self, record: Buffer) -> None:
        self._file.write(frame_record(bytes(record)))
        self.count += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.__exit__(kind, error, traceback)


def frame_record(data: bytes) -> bytes:
    """Put length and checksums around the bytes of one record."""
    length = struct.pack("<Q", len(data))
    return b"".join(
        (length, _CRC.pack(masked_crc32c(length)), data, _CRC.pack(masked_crc32c(data)))
    )


def write_records(path: Path, records: Iterable[Buffer]) -> int:
    """Write all records or no file; returns how many there were."""
    with RecordWriter(path) as writer:
        for record in records:
            writer.write(record)
    return writer.count


class RecordFile:
    """The records of one file, by number; each is checked when it is read.

    What indexing could not read is in `damage`; the good records around it are numbered
    as if the damaged ones were not there.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self._map = map_file(self.path)
        self._offsets, self.damage = read_or_make_index(self.path, self._map)

    def __len__(self) -> int:
        return len(self._offsets)

    def __getitem__(self, number: int) -> memoryview:
        count = len(self._offsets)
        if not -count <= number < count:
            raise IndexError(f"record {number} of {count} in `{self.path}`")
        number %= count
        return self._read(number, int(self._offsets[number]))

    def __reduce__(self) -> tuple[type[RecordFile], tuple[Path]]:
        return RecordFile, (self.path,)

    @property
    def offsets(self) -> NDArray[np.uint64]:
        """Where each record starts, in bytes."""
        return self._offsets

    def _read(self, number: int, offset: int) -> memoryview:
        view = self._map
        start = offset + _HEADER.size
        if start > len(view):
            raise self._error(number, offset, "lies beyond the end of the file")
        head = bytes(view[offset:start])
        length, length_crc = _HEADER.unpack(head)
        if masked_crc32c(head[:8]) != length_crc:
            raise self._error(number, offset, "has a length that does not match its checksum")
        end = start + length
        if end + _CRC.size > len(view):
            raise self._error(number, offset, f"says {length} bytes, more than the file has left")
        data = view[start:end]
        if masked_crc32c(data) != _CRC.unpack_from(view, end)[0]:
            raise self._error(number, offset, "does not match its checksum")
        return data

    def _error(self, number: int, offset: int, what: str) -> RecordError:
        return RecordError(
            f"record {number} of `{self.path}` at byte {offset} {what}",
            hint="copy or make the file again; `trainferry data check` lists all such records",
        )


class RecordSet:
    """The records of several files, one after the other; worker processes map them again."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = tuple(Path(path) for path in paths)
        self.files = tuple(RecordFile(path) for path in self.paths)
        ends = np.cumsum([len(file) for file in self.files], dtype=np.int64)
        self._ends: list[int] = ends.tolist()

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, number: int) -> memoryview:
        which, inside = self.locate(number)
        return self.files[which][inside]

    def __reduce__(self) -> tuple[type[RecordSet], tuple[tuple[Path, ...]]]:
        return RecordSet, (self.paths,)

    @property
    def damage(self) -> list[Damage]:
        return [damage for file in self.files for damage in file.damage]

    def locate(self, number: int) -> tuple[int, int]:
        """Return which file holds a record and its number there."""
        count = len(self)
        if not -count <= number < count:
            raise IndexError(f"record {number} of {count}")
        number %= count
        which = bisect_right(self._ends, number)
        return which, number - (self._ends[which - 1] if which else 0)

    def where(self, number: int) -> str:
        """Return file and record number, which need no intact record."""
        which, inside = self.locate(number)
        return f"{self.files[which].path.name}:{inside}"


def find_records(folder: Path, split: str) -> list[Path]:
    """Return the files of one split, in natural order: 2 before 10."""
    for place in (folder / "tfrecords", folder):
        found = [path for path in _record_files(place) if path.name.startswith(split)]
        if found:
            return sorted(found, key=_natural)
    raise DataError(
        f"no `{split}*.tfrecords` in `{folder}` or `{folder / 'tfrecords'}`; " + _describe(folder),
        hint=_hint(folder),
    )


def _hint(folder: Path) -> str:
    named = sorted(path.name for path in folder.glob("*-of-*")) if folder.is_dir() else []
    if any(name.startswith(("train-", "validation-")) for name in named):
        return (
            "these look like photographs, and words were looked for: "
            "take a recipe or a run of photographs, such as resnet50_photos"
        )
    if named:
        return (
            f"what is in `{named[0]}` its name does not say: let it begin with train- or "
            "validation- (signs: in a folder of that name), or check this one file by its path"
        )
    return records_hint(folder)


def records_hint(folder: Path) -> str:
    """Say what to pass in place of a folder without the record files that are wanted."""
    if not any(_record_files(folder)) and holds_pictures(folder):
        return f"these are pictures; make record files: trainferry data folder {folder} --to FOLDER"
    return "pass the folder that `trainferry data ... --to FOLDER` wrote, or another `--split`"


def count_files(files: Sequence[Path]) -> str:
    """Say how many record files there are."""
    return counted(len(files), "record file")


def has_records(folder: Path, split: str) -> bool:
    """Tell whether there are files of a split at all."""
    return any(
        path.name.startswith(split)
        for place in (folder / "tfrecords", folder)
        for path in _record_files(place)
    )


def _record_files(place: Path) -> Iterator[Path]:
    if place.is_dir():
        for path in place.iterdir():
            if path.suffix in SUFFIXES and not path.name.startswith(".") and path.is_file():
                yield path


def _describe(folder: Path) -> str:
    if not folder.is_dir():
        return "that is a file" if folder.exists() else "there is no such folder"
    names = {path.name for place in (folder / "tfrecords", folder) for path in _record_files(place)}
    if not names:
        return "there are no record files at all"
    shown = sorted(names)[:3]
    return f"found {', '.join(shown)}" + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _natural(path: Path) -> list[tuple[int, int, str]]:
    parts = re.findall(r"\d+|\D+", path.name)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]
