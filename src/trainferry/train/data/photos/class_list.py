"""A list that names the class of each picture, where no folders do: CSV, or with tabs."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from trainferry.counted import counted
from trainferry.errors import DataError
from trainferry.train.data.pack import path_inside
from trainferry.train.data.photos.classes import natural_order
from trainferry.train.data.photos.tree import ClassTree
from trainferry.train.data.picture_names import is_picture
from trainferry.train.data.text_file import read_text

OPTION = "--classes-from"
_ENDINGS = (".jpg", ".jpeg", ".png", ".JPG", ".JPEG")


@dataclass
class ListedTree(ClassTree):
    """The pictures of each class as a list has them, and what of it is no picture."""

    named_in: Path = Path()
    missing: list[str] = field(default_factory=list)

    def notes(self) -> list[str]:
        if not self.missing:
            return []
        lines = counted(len(self.missing), "line")
        return [
            f"left out {lines} of `{self.named_in.name}` whose picture is not there, such as "
            f"`{self.missing[0]}`"
        ]


def read_class_list(root: Path, path: Path) -> ListedTree:
    """Read picture and class from each line's first two columns; the first line may name them.

    Pictures may be named without their ending, as competitions do. Raises DataError.
    """
    classes: dict[str, str] = {}
    tree = ListedTree(root, named_in=path)
    for number, (name, label) in enumerate(_rows(path)):
        found = _find(root, name)
        if found is None:
            if number or is_picture(name):  # the first line may say what the columns are
                tree.missing.append(name)
        elif classes.setdefault(found, label) != label:
            raise DataError(
                f"`{path}` gives `{name}` two classes: `{classes[found]}` and `{label}`",
                hint="a picture has one class here: remove one of the lines",
            )
    if not classes:
        raise DataError(
            f"no line of `{path}` names a picture below `{root}`"
            + (f"; the first is `{tree.missing[0]}`" if tree.missing else ""),
            hint="the first column is the path of a picture from that folder on, with or without "
            "its ending, the second its class",
        )
    tree.pictures = {label: [] for label in sorted(set(classes.values()), key=natural_order)}
    for name in sorted(classes, key=natural_order):
        tree.pictures[classes[name]].append(name)
    return tree


def _rows(path: Path) -> Iterator[tuple[str, str]]:
    try:
        lines = read_text(path, OPTION).splitlines()
    except OSError as error:
        raise DataError(
            f"cannot read `{path}`: {error.strerror or error}",
            hint=f"{OPTION} takes a file with picture and class on each line",
        ) from error
    separator = "\t" if lines and "\t" in lines[0] else ","
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    for row in _read_rows(reader, path):
        columns = [column.strip() for column in row]
        if not any(columns):
            continue
        if len(columns) < 2 or not columns[1]:
            raise DataError(
                f"line {reader.line_num} of `{path}` has no class: {lines[reader.line_num - 1]!r}",
                hint="write picture and class, with a comma or a tab between them",
            )
        yield columns[0], columns[1]


def _read_rows(reader: Iterator[list[str]], path: Path) -> Iterator[list[str]]:
    try:
        yield from reader
    except csv.Error as error:
        raise DataError(
            f"`{path}` is no list with commas or tabs: {error}",
            hint="a quotation mark at the start of a column may lack its end",
        ) from error


def _find(root: Path, name: str) -> str | None:
    """Return the path of a picture as it is called below the root; None where there is none."""
    endings = ("",) if is_picture(name) else _ENDINGS
    for ending in endings:
        place = path_inside(root, name + ending)
        if place is not None and place.is_file():
            return os.path.normpath(name + ending)
    return None
