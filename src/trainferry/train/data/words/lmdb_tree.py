"""LMDB files of words in folders, or in trees of folders."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from trainferry.errors import DataError
from trainferry.train.data.words.lmdb import WordLmdb, open_word_lmdb

_DATA, _LOCK = "data.mdb", "lock.mdb"
_SUFFIXES = (".mdb", ".lmdb")
_SPLITS = {
    "train": ("train", "training"),
    "val": ("val", "valid", "validation"),
    "test": ("test", "testing", "eval", "evaluation", "benchmark"),
}


def find_word_lmdbs(sources: Sequence[Path]) -> list[WordLmdb]:
    """Return the LMDB files that the sources are or hold, each named after its place."""
    found: dict[Path, WordLmdb] = {}
    for source in sources:
        for path in _find(source):
            real = path.resolve()
            if real in found:
                raise DataError(
                    f"`{path}` was given before, as part of `{found[real].name}`",
                    hint="name each LMDB once, and no folder above it",
                )
            found[real] = open_word_lmdb(path, _name(path, source))
    return list(found.values())


def _find(source: Path) -> list[Path]:
    if source.is_file():
        return [source]
    if not source.is_dir():
        raise DataError(f"`{source}` does not exist", hint="check the path")
    found = list(_walk(source, set()))
    if not found:
        raise DataError(
            f"no {_DATA} in `{source}`, nor in its folders",
            hint="pass an LMDB folder, its data.mdb, or a folder of LMDB folders",
        )
    _refuse_mixture(source, found)
    return found


def _walk(folder: Path, seen: set[Path]) -> Iterator[Path]:
    """Follow links, but enter no folder twice."""
    real = folder.resolve()
    if real in seen:
        return
    seen.add(real)
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise DataError(
            f"cannot read `{folder}`: {error.strerror or error}",
            hint="check the path and that you may read it",
        ) from error
    for entry in entries:
        if entry.is_dir():
            yield from _walk(folder / entry.name, seen)
        elif entry.name.endswith(_SUFFIXES) and entry.name != _LOCK:
            yield folder / entry.name


def _refuse_mixture(source: Path, found: Sequence[Path]) -> None:
    """Raise DataError for a tree with sets of several splits, such as to train on and to score."""
    folders = {path.relative_to(source).parts[0] for path in found}
    splits = {
        split: sorted(folder for folder in folders if folder.lower() in names)
        for split, names in _SPLITS.items()
    }
    commands = [
        f"`{source / folder}` with --split {split}"
        for split, named in splits.items()
        for folder in named
    ]
    if sum(map(bool, splits.values())) > 1:
        raise DataError(
            f"`{source}` has sets of several splits, which would end in one",
            hint=f"pack each by itself: {', '.join(commands)}; to have them in one all the same, "
            "name the folders one by one",
        )


def _name(path: Path, source: Path) -> str:
    """Name a file after its place, from the name of the source on."""
    place = Path(os.path.abspath(path))  # noqa: PTH100 - links keep the names the user gave them
    place = place.parent if place.name == _DATA else place.with_suffix("")
    top = Path(os.path.abspath(source)).parent if source.is_dir() else place.parent  # noqa: PTH100
    return os.fsencode(place.relative_to(top)).decode("utf-8", "replace")
