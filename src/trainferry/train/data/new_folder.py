"""A folder of pictures that appears whole or not at all, each under a name that is safe and new."""

from __future__ import annotations

import itertools
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trainferry.errors import DataError
from trainferry.train.data.picture_names import is_picture
from trainferry.train.data.whole_file import explain_write_errors

_SUFFIXES = (
    (b"\xff\xd8\xff", ".jpg"),
    (b"\x89PNG\r\n\x1a\n", ".png"),
    (b"BM", ".bmp"),
    (b"GIF8", ".gif"),
    (b"RIFF", ".webp"),
    (b"II*\0", ".tif"),
    (b"MM\0*", ".tif"),
)
_LONGEST_PART = 100


@contextmanager
def new_folder(folder: Path, last: str) -> Iterator[Path]:
    """Give a place to write to, which becomes the folder when the block ends well.

    Where the folder is there already, and empty, what was written moves into it, the file `last`
    behind all others: it may be a mount point.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"`{folder}` exists and is not empty", hint="pass a new folder to --to")
    name = f".{folder.name}.{os.getpid()}.part"
    beside = folder / name if folder.is_dir() else folder.with_name(name)
    try:
        with explain_write_errors(folder):
            beside.mkdir(parents=True)
            yield beside
            _move(beside, folder, last)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def safe_name(name: str) -> Path:
    """Make a relative path of harmless parts from whatever a record calls itself."""
    parts = []
    for part in re.split(r"[/\\]+", name):
        clean = _cut(re.sub(r"[^\w.\-]", "_", part), _LONGEST_PART).lstrip(".")
        if clean and not re.fullmatch(r"[A-Za-z]_", clean):
            parts.append(clean)
    return Path(*parts[-4:]) if parts else Path("picture")


def write_new(folder: Path, name: Path, data: bytes, taken: Counter[Path]) -> Path:
    """Write under a name not yet taken, with the suffix that fits the bytes.

    `taken` keeps how often a name was asked for: trying from 1 takes the square of that.
    """
    suffix = next((end for magic, end in _SUFFIXES if data.startswith(magic)), ".bin")
    if name.suffix.lower() in (".jpg", ".jpeg") and suffix == ".jpg":
        suffix = name.suffix
    wanted = folder / name
    try:
        wanted.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        wanted = folder / _cut("_".join(name.parts), 2 * _LONGEST_PART)
    stem = wanted.stem if is_picture(wanted.name) else wanted.name
    start = wanted.with_name(stem + suffix)
    for count in itertools.count(taken[start] + 1):
        path = wanted.with_name(stem + (f"-{count}" if count > 1 else "") + suffix)
        try:
            with path.open("xb") as file:
                file.write(data)
        except FileExistsError:
            continue
        break
    taken[start] = count
    return path


def _move(beside: Path, folder: Path, last: str) -> None:
    if beside.parent != folder:
        beside.rename(folder)
        return
    for path in sorted(beside.iterdir(), key=lambda path: path.name == last):
        path.rename(folder / path.name)


def _cut(name: str, longest: int) -> str:
    """Return the end of a name; files are limited in bytes, not in characters."""
    return name.encode()[-longest:].decode("utf-8", "ignore")
