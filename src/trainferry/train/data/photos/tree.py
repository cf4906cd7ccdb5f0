"""Folders of pictures, one for each class."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from trainferry.counted import counted
from trainferry.errors import DataError
from trainferry.train.data.photos.classes import natural_order
from trainferry.train.data.picture_names import is_picture

_INNER = "images"  # as Tiny ImageNet has it below each class
_NOT_OURS = "__MACOSX"  # what a Mac adds to an archive
VALIDATION_FOLDERS = ("val", "validation", "valid")


@dataclass
class ClassTree:
    """The pictures of each class folder, as paths below the root, and what is none."""

    root: Path
    pictures: dict[str, list[str]] = field(default_factory=dict)
    empty: list[str] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)

    def notes(self) -> list[str]:
        """Say what was left out."""
        notes = []
        if self.empty:
            shown = ", ".join(self.empty[:5]) + (", ..." if len(self.empty) > 5 else "")
            notes.append(f"left out {counted(len(self.empty), 'folder')} without pictures: {shown}")
        if self.others:
            shown = ", ".join(counted(count, kind) for kind, count in self.others.most_common(5))
            notes.append(f"left out what is no picture by its name: {shown}")
        return notes


def list_class_tree(root: Path) -> ClassTree:
    """List `root`/<class>/<picture>, in natural order. Raises DataError where there are none."""
    tree = ClassTree(root)
    for name in list_folders(root):
        found = list(_pictures(tree, name))
        if _INNER in list_folders(root / name):
            found += _pictures(tree, f"{name}/{_INNER}")
        if found:
            tree.pictures[name] = found
        elif inner := list_folders(root / name):
            raise DataError(
                f"`{root / name}` has folders, such as `{inner[0]}`, where pictures should be",
                hint=f"pass `{root / name}` if its folders are the classes; folders of sets are "
                "called train, val and test",
            )
        else:
            tree.empty.append(name)
    if not tree.pictures:
        raise DataError(
            f"no class folders with pictures in `{root}`",
            hint="put the pictures of each class into a folder with the name of the class",
        )
    return tree


def list_folders(root: Path) -> list[str]:
    """Return the names of the folders in a folder, in natural order; hidden ones do not count."""
    return sorted((entry.name for entry in _entries(root) if entry.is_dir()), key=natural_order)


def list_pictures(root: Path) -> list[str]:
    """Return the names of the pictures in a folder, in natural order."""
    names = (entry.name for entry in _entries(root) if entry.is_file())
    return sorted((name for name in names if is_picture(name)), key=natural_order)


def find_folder(root: Path, names: tuple[str, ...]) -> Path | None:
    """Return the first of these folders that is there."""
    return next((root / name for name in names if (root / name).is_dir()), None)


def _pictures(tree: ClassTree, place: str) -> list[str]:
    found = []
    for entry in _entries(tree.root / place):
        if not entry.is_file():
            if entry.name != _INNER:
                tree.others["folder"] += 1
        elif is_picture(entry.name):
            found.append(entry.name)
        else:
            tree.others[f"{Path(entry.name).suffix.lower() or 'nameless'} file"] += 1
    return [f"{place}/{name}" for name in sorted(found, key=natural_order)]


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.name.startswith(".") and entry.name != _NOT_OURS:
                    yield entry
    except OSError as error:
        raise DataError(
            f"cannot read `{folder}`: {error.strerror or error}",
            hint="check the path and that you may read it",
        ) from error
