"""Lists that say the class of each picture where pictures do not lie in folders by class."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trainferry.errors import DataError
from trainferry.train.data.pack import path_inside
from trainferry.train.data.photos.imagenet_classes import (
    WNID,
    ClassFile,
    read_class_file,
    read_lines,
)
from trainferry.train.data.picture_names import is_picture

LABELS = "labels.tsv"
VALIDATION_LISTS = (
    "imagenet_2012_validation_synset_labels.txt",
    "ILSVRC2012_validation_ground_truth.txt",
    "LOC_val_solution.csv",
    "val.txt",
    LABELS,
)
_DEVKIT_MAP = "map_clsloc.txt"
_COLUMNS = {
    "file": ("file", "filename", "file_name", "path", "image"),
    "wnid": ("wnid", "synset"),
    "name": ("class_name", "name", "text"),
    "index": ("ilsvrc_index", "class_index", "index"),
    "split": ("split",),
}
_ORDER = ("file", "wnid", "name", "index")


@dataclass(frozen=True)
class Listed:
    """A picture in a list: its path below the folder, its wnid, and what else the list says."""

    path: str
    wnid: str
    name: str = ""
    index: int | None = None
    split: str = ""


def read_labels(path: Path, root: Path) -> list[Listed]:
    """Read lines of file, wnid, class name and index, with or without a line of column names.

    The files lie in `root` or in its `images`; a path that leads elsewhere is an error.
    """
    rows = [line.split("\t") for line in read_lines(path)]
    columns = _find_columns(rows[0])
    if columns:
        del rows[0]
    else:
        columns = {name: place for place, name in enumerate(_ORDER)}
    place = "images/" if (root / "images").is_dir() else ""
    listed = []
    for row in rows:
        values = {name: row[at].strip() for name, at in columns.items() if at < len(row)}
        file, wnid, index = (values.get(name, "") for name in ("file", "wnid", "index"))
        if not file or not WNID.fullmatch(wnid) or not re.fullmatch(r"\d{0,6}", index):
            raise DataError(
                f"a line of `{path}` is not file, wnid, class name and index: {row}",
                hint="separate them with tabs; a wnid is n and eight digits",
            )
        inside = file if not place or (root / file).is_file() else place + file
        if path_inside(root, file) is None or path_inside(root, inside) is None:
            raise DataError(
                f"`{path}` names `{file}`, which lies outside `{root}`", hint="correct that line"
            )
        number = int(index) if index else None
        listed.append(Listed(inside, wnid, values.get("name", ""), number, values.get("split", "")))
    return listed


def find_validation_list(places: Sequence[Path]) -> Path:
    """Return the first of the usual lists in these folders."""
    for place in places:
        for name in VALIDATION_LISTS:
            if (place / name).is_file():
                return place / name
    raise DataError(
        f"`{places[0]}` has pictures but no class folders, and no list of their classes is there",
        hint="pass imagenet_2012_validation_synset_labels.txt, LOC_val_solution.csv, or the "
        "devkit's ground truth with its map_clsloc.txt to --validation-labels",
    )


def read_validation_list(
    path: Path, pictures: Sequence[str], wnids: Sequence[str], classes: ClassFile | None
) -> dict[str, str]:
    """Return the wnid of each picture that the list knows.

    The list has a line for each picture, in the order of their names, with a wnid or with the
    number of the devkit; or lines of picture and wnid, or of picture and place among the
    sorted `wnids`; or it is LOC_val_solution.csv.
    """
    if path.suffix == ".csv":
        return _match(path, pictures, _read_solution(path))
    rows = [line.split() for line in read_lines(path)]
    if all(len(row) == 1 for row in rows):
        values = [row[0] for row in rows]
        if len(values) != len(pictures):
            raise DataError(
                f"`{path}` has {len(values):,} lines for {len(pictures):,} pictures",
                hint="it must have a line for each picture, in the order of their names",
            )
        if all(value.isdecimal() for value in values):
            values = _from_devkit(path, values, classes)
        _check_wnids(path, values)
        return dict(zip(pictures, values, strict=True))
    if not all(len(row) >= 2 for row in rows):
        raise _unclear(path, next(row for row in rows if len(row) < 2))
    if all(WNID.fullmatch(row[1]) for row in rows):
        return _match(path, pictures, {row[0]: row[1] for row in rows})
    return _match(path, pictures, _from_places(path, rows, wnids))


def _find_columns(header: Sequence[str]) -> dict[str, int]:
    words = [word.strip().lower() for word in header]
    columns = {
        name: words.index(alias)
        for name, aliases in _COLUMNS.items()
        for alias in aliases
        if alias in words
    }
    return columns if {"file", "wnid"} <= columns.keys() else {}


def _read_solution(path: Path) -> dict[str, str]:
    rows = [row for row in csv.reader(read_lines(path)) if len(row) == 2]
    found = {name: boxes.split()[0] for name, boxes in rows if boxes.split()}
    found.pop("ImageId", None)
    _check_wnids(path, list(found.values()))
    return found


def _from_devkit(path: Path, values: list[str], classes: ClassFile | None) -> list[str]:
    numbers = classes.numbers if classes is not None else {}
    beside = path.with_name(_DEVKIT_MAP)
    if not numbers and beside.is_file():
        numbers = read_class_file(beside).numbers
    if not numbers:
        raise DataError(
            f"`{path}` holds numbers of the devkit, whose order is not that of the labels",
            hint=f"put the devkit's {_DEVKIT_MAP} beside it, or pass it to --classes, or pass "
            "imagenet_2012_validation_synset_labels.txt to --validation-labels",
        )
    unknown = [value for value in values if int(value) not in numbers]
    if unknown:
        raise DataError(
            f"the number {unknown[0]} of `{path}` is not in the devkit's map",
            hint=f"take both files from the same devkit; the map has {len(numbers)} numbers",
        )
    return [numbers[int(value)] for value in values]


def _from_places(path: Path, rows: list[list[str]], wnids: Sequence[str]) -> dict[str, str]:
    """Read `picture.JPEG 65`: places count from 0. Other lists number lines, not classes."""
    for row in rows:
        if not is_picture(row[0]) or not row[1].isdecimal():
            raise _unclear(path, row)
    largest = max(int(row[1]) for row in rows)
    if largest >= len(wnids):
        raise DataError(
            f"`{path}` counts up to {largest}, but only {len(wnids)} classes are known",
            hint="pass the list of all classes to --classes",
        )
    return {row[0]: wnids[int(row[1])] for row in rows}


def _match(path: Path, pictures: Sequence[str], found: dict[str, str]) -> dict[str, str]:
    by_stem = {Path(name).stem: wnid for name, wnid in found.items()}
    matched = {name: by_stem[Path(name).stem] for name in pictures if Path(name).stem in by_stem}
    if not matched:
        raise DataError(
            f"`{path}` names none of the pictures, such as `{next(iter(pictures), '')}`",
            hint="pass the list of these pictures to --validation-labels",
        )
    return matched


def _check_wnids(path: Path, values: list[str]) -> None:
    for value in values:
        if not WNID.fullmatch(value):
            raise _unclear(path, [value])


def _unclear(path: Path, row: list[str]) -> DataError:
    return DataError(
        f"`{path}` says no class in {' '.join(row)[:80]!r}",
        hint="lines are a wnid, or a picture and its wnid, or a picture and its place from 0",
    )
