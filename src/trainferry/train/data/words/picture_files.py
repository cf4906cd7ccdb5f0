"""Words whose pictures are files below a folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from trainferry.train.data.pack import Problem, Word, path_inside

Labelled: TypeAlias = tuple[str, str] | Problem  # a path below the folder and a text


def read_pictures(folder: Path, words: Iterable[Labelled]) -> Iterator[Word | Problem]:
    """Give each word its picture; no path leads out of the folder."""
    for word in words:
        yield word if isinstance(word, Problem) else _read(folder, *word)


def _read(folder: Path, name: str, text: str) -> Word | Problem:
    path = path_inside(folder, name)
    if path is None:
        where = "a link that leads out of it" if (folder / name).is_symlink() else name
        return Problem(name, f"path outside the folder: {where}")
    try:
        return Word(name, text, path.read_bytes())
    except OSError as error:
        return Problem(name, f"picture cannot be read: {error.strerror or error}")
