"""Photographs in record files, with their classes numbered from 1."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from trainferry.errors import DataError, RecordError
from trainferry.train.data.example import split_example
from trainferry.train.data.photos.classes import CLASSES, find_classes, natural_order
from trainferry.train.data.photos.example import (
    Boxes,
    is_photo,
    read_boxes,
    read_encoded,
    read_folder,
    read_label,
    read_name,
    read_text,
)
from trainferry.train.data.photos.labels import BELOW_ZERO, NO_LABEL, Labels, find_labels
from trainferry.train.data.record_index import Damage
from trainferry.train.data.tfrecord import SUFFIXES, RecordFile, RecordSet, records_hint

# In place of labels, which are 1 or more.
MISSING, UNREADABLE, NEGATIVE = 0, -1, -2
_SHARD = re.compile(r"(?P<set>.*?)[-_.]?(?P<number>\d+)-of-(?P<total>\d{1,6})(\.tfrecords?)?")
_MOST_CLASSES = 1_000_000
_VALIDATION = ("val", "valid", "validation")
_OTHER_NAMES = {"train": ("train", "training"), **dict.fromkeys(_VALIDATION, _VALIDATION)}


@dataclass(frozen=True)
class PhotoSample:
    """One photograph, still encoded; boxes are (ymin, xmin, ymax, xmax) from 0 to 1."""

    encoded: memoryview
    label: int
    text: str
    boxes: Boxes
    name: str
    folder: str = ""


class PhotoRecords:
    """The photographs of several record files, with labels from 1.

    Where there is a 0 among the labels as they were written, they start at 0 and one is added
    to each; else they start at 1. `first_label` says it for files that hold too few to tell.
    """

    def __init__(self, paths: Sequence[Path], first_label: int | None = None) -> None:
        self.paths = tuple(Path(path) for path in paths)
        self._given_first = first_label
        if first_label is None:
            # Before all files are opened: labels cost little while a file's index is being made.
            _ = self._written
        self.records = RecordSet(self.paths)

    def __len__(self) -> int:
        return len(self.records)

    def __reduce__(self) -> tuple[type[PhotoRecords], tuple[tuple[Path, ...], int]]:
        return PhotoRecords, (self.paths, self.first_label)

    @property
    def damage(self) -> list[Damage]:
        return self.records.damage

    @cached_property
    def first_label(self) -> int:
        """What the first class is called in the files, 0 or 1."""
        if self._given_first is not None:
            return self._given_first
        return 0 if bool((self._written == 0).any()) else 1

    def labels(self) -> Labels:
        """Return all labels; no picture is read, and no checksum of one.

        MISSING where a record has none, UNREADABLE where it cannot be read, and NEGATIVE.
        """
        written = self._written
        labels = written + np.int32(1 - self.first_label)
        labels[written < 0] = UNREADABLE
        labels[written == NO_LABEL] = MISSING
        labels[(written == BELOW_ZERO) | (written >= 0) & (labels < 1)] = NEGATIVE
        return labels

    def sample(self, number: int) -> PhotoSample:
        """Return one photograph. Raises RecordError for a damaged or unlabelled one."""
        which, inside = self.records.locate(number)
        data = self.records.files[which][inside]
        record = split_example(data)
        encoded = read_encoded(record)
        if encoded is None:
            raise self._error(number, "has no feature `image/encoded`")
        return PhotoSample(
            encoded,
            self._label(read_label(record), number),
            read_text(record),
            read_boxes(data, record),
            read_name(record) or self.where(number),
            read_folder(record),
        )

    def where(self, number: int) -> str:
        return self.records.where(number)

    @cached_property
    def _written(self) -> Labels:
        labels = (find_labels(RecordFile(path)) for path in self.paths)
        return np.concatenate([np.empty(0, np.int32), *labels])

    def _label(self, written: int | None, number: int) -> int:
        if written is None:
            raise self._error(number, "has no class label")
        label = written + 1 - self.first_label
        if label < 1:
            raise self._error(number, f"has the class label {written}")
        return label

    def _error(self, number: int, what: str) -> RecordError:
        return RecordError(
            f"record {self.where(number)} {what}",
            hint="make the records again; `trainferry data check` lists all such records",
        )


def read_classes(folder: Path, records: PhotoRecords) -> tuple[str, ...]:
    """Return the names of the classes, label 1 first.

    They are those of `classes.json`, else the texts in the records; a class without any is
    called by its label.
    """
    for place in (folder, folder / "tfrecords", *{path.parent for path in records.paths}):
        classes = find_classes(place)
        if classes is not None:
            return tuple(one.name for one in classes)
    labels = records.labels()
    largest = int(labels.max(initial=0))
    if largest > _MOST_CLASSES:
        number = int(labels.argmax())
        raise DataError(
            f"the class label of {records.where(number)} is {largest}, which no set has",
            hint=f"put a {CLASSES} into `{folder}` that names the classes; others are left out",
        )
    present, where = np.unique(labels, return_index=True)
    names = [f"class {label}" for label in range(1, largest + 1)]
    for label, number in zip(present.tolist(), where.tolist(), strict=True):
        if label >= 1:
            names[label - 1] = _name_of(records, number) or names[label - 1]
    return tuple(names)


def find_photo_records(folder: Path, split: str) -> list[Path]:
    """Return the files of a split, "" for all, in natural order, whoever named them.

    `train-00000-of-01024`, `flowers_train_00000-of-00005.tfrecord`, `train_1.tfrecords` and
    `imagenet2012-train.tfrecord-00000-of-01024` are of `train`; `val` finds `validation` too.
    Raises DataError when there is none, or when a set that counts its files lacks some.
    """
    for place in (folder, folder / "tfrecords"):
        found = sorted(_files_of(place, split), key=lambda path: natural_order(path.name))
        if found:
            _check_whole(found)
            return found
    raise DataError(
        f"no record files of `{split}` in `{folder}`; {_describe(folder)}",
        hint=records_hint(folder),
    )


def has_photo_records(folder: Path, split: str) -> bool:
    """Tell whether there are files of a split at all."""
    return any(any(_files_of(place, split)) for place in (folder, folder / "tfrecords"))


def holds_photos(path: Path) -> bool:
    """Tell whether the first readable record of a file is a photograph."""
    file = RecordFile(path)
    for number in range(len(file)):
        try:
            return is_photo(split_example(file[number]))
        except RecordError:
            continue
    return False


def _name_of(records: PhotoRecords, number: int) -> str:
    try:
        sample = records.sample(number)
    except RecordError:
        return ""
    return sample.text or sample.folder


def _files_of(place: Path, split: str) -> Iterator[Path]:
    names = _OTHER_NAMES.get(split, (split,))
    for path in _record_files(place):
        words = re.split(r"[-_.]+", path.name)
        if path.name.startswith(split) or any(name in words for name in names):
            yield path


def _record_files(place: Path) -> Iterator[Path]:
    if not place.is_dir():
        return
    for path in place.iterdir():
        named = path.suffix in SUFFIXES or _SHARD.fullmatch(path.name) is not None
        if named and not path.name.startswith(".") and path.is_file():
            yield path


def _check_whole(paths: Sequence[Path]) -> None:
    sets: dict[str, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for path in paths:
        if match := _SHARD.fullmatch(path.name):
            sets[match["set"]][int(match["total"])].add(int(match["number"]))
    folder = paths[0].parent
    for name, totals in sets.items():
        if len(totals) > 1:
            raise DataError(
                f"`{folder}` holds several sets of `{name}` records, of "
                f"{', '.join(map(str, sorted(totals)))} files",
                hint="keep one set: the others would be the same pictures again",
            )
        total, numbers = next(iter(totals.items()))
        missing = sorted(set(range(total)) - numbers)
        if missing:
            shown = ", ".join(map(str, missing[:5])) + (", ..." if len(missing) > 5 else "")
            raise DataError(
                f"{len(missing)} of the {total} `{name}` record files are not in `{folder}`: "
                f"number {shown}",
                hint="copy all files, or run the command that makes them again: it goes on "
                "where it stopped",
            )


def _describe(folder: Path) -> str:
    if not folder.is_dir():
        return "that is a file" if folder.exists() else "there is no such folder"
    names = [path.name for place in (folder, folder / "tfrecords") for path in _record_files(place)]
    if not names:
        return "there are no record files at all"
    shown = sorted(names, key=natural_order)[:3]
    return f"found {', '.join(shown)}" + (f" and {len(names) - 3} more" if len(names) > 3 else "")
