"""Records back into pictures and a `gt.tsv`, as `data folder` reads them."""

from __future__ import annotations

import itertools
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from trainferry.errors import DataError
from trainferry.train.data.example import first_bytes, split_example
from trainferry.train.data.pictures import encode_png
from trainferry.train.data.tfrecord import RecordFile
from trainferry.train.data.whole_file import explain_write_errors
from trainferry.train.data.words.folder import LIST
from trainferry.train.data.words.records import (
    FileLayout,
    find_layout,
    read_name,
    read_picture,
    read_text,
)

_SUFFIXES = (
    (b"\xff\xd8\xff", ".jpg"),
    (b"\x89PNG\r\n\x1a\n", ".png"),
    (b"BM", ".bmp"),
    (b"GIF8", ".gif"),
    (b"RIFF", ".webp"),
    (b"II*\0", ".tif"),
    (b"MM\0*", ".tif"),
)
_PICTURE_SUFFIXES = {".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff"}
_LONGEST_PART = 100


@dataclass
class UnpackReport:
    """How many pictures were written, and what could not be."""

    written: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)

    def summary(self) -> str:
        lines = [f"wrote {self.written:,} pictures and {LIST}"]
        if self.skipped:
            lines.append(f"skipped {len(self.skipped):,}")
            lines += [f"    {name}  {reason}" for name, reason in self.skipped[:5]]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        return {
            "written": self.written,
            "skipped": len(self.skipped),
            "examples": [list(item) for item in self.skipped[:5]],
        }


def unpack_records(
    paths: Sequence[Path],
    folder: Path,
    *,
    ord_map: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> UnpackReport:
    """Write every picture and its text to a new folder, all or nothing.

    Encoded pictures are written byte for byte, raw ones as PNG.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"`{folder}` exists and is not empty", hint="pass a new folder to --to")
    files = [RecordFile(path) for path in paths]
    beside = _beside(folder)
    report = UnpackReport()
    try:
        with explain_write_errors(folder):
            beside.mkdir(parents=True)
            _unpack_all(files, beside, report, ord_map, progress or _no_progress)
            _move(beside, folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return report


def safe_name(name: str) -> Path:
    """Make a relative path of harmless parts from whatever a record calls itself."""
    parts = []
    for part in re.split(r"[/\\]+", name):
        clean = _cut(re.sub(r"[^\w.\-]", "_", part), _LONGEST_PART).lstrip(".")
        if clean and not re.fullmatch(r"[A-Za-z]_", clean):
            parts.append(clean)
    return Path(*parts[-4:]) if parts else Path("picture")


def _beside(folder: Path) -> Path:
    """Return where to write first: in the folder if it is there, for it may be a mount point."""
    name = f".{folder.name}.{os.getpid()}.part"
    return folder / name if folder.is_dir() else folder.with_name(name)


def _move(beside: Path, folder: Path) -> None:
    if beside.parent != folder:
        beside.rename(folder)
        return
    for path in sorted(beside.iterdir(), key=lambda path: path.name == LIST):
        path.rename(folder / path.name)


def _cut(name: str, longest: int) -> str:
    """Return the end of a name; files are limited in bytes, not in characters."""
    return name.encode()[-longest:].decode("utf-8", "ignore")


def _unpack_all(
    files: Sequence[RecordFile],
    beside: Path,
    report: UnpackReport,
    ord_map: Path | None,
    progress: Callable[[int, int], None],
) -> None:
    total, done = sum(map(len, files)), 0
    taken: Counter[Path] = Counter()
    with (beside / LIST).open("w", encoding="utf-8", newline="\n") as listed:
        for file in files:
            report.skipped += [(one.path.name, str(one)) for one in file.damage]
            layout = find_layout(file, ord_map=ord_map)
            for number in range(len(file)):
                done += 1
                try:
                    name, text, data = _read(file, number, layout)
                except DataError as error:
                    report.skipped.append((f"{file.path.name}:{number}", str(error)))
                    continue
                path = _write_new(beside, safe_name(name), data, taken)
                listed.write(f"{path.relative_to(beside).as_posix()}\t{text}\n")
                report.written += 1
                if done % 200 == 0 or done == total:
                    progress(done, total)


def _read(file: RecordFile, number: int, layout: FileLayout) -> tuple[str, str, bytes]:
    record = split_example(file[number])
    text = read_text(record, layout)
    if not text or "\n" in text or "\r" in text:
        raise DataError(
            f"the text {text!r} cannot stand on a line of {LIST}", hint="change the text"
        )
    name = read_name(record, layout, file, number)
    if layout.layout == "encoded":
        value = first_bytes(record[b"image/encoded"]) if b"image/encoded" in record else None
        if value is None:
            raise DataError("a record has no feature `image/encoded`", hint="make it again")
        return name, text, bytes(value)
    picture = read_picture(record, layout)
    if layout.order == "bgr":
        picture = np.ascontiguousarray(picture[:, :, ::-1])
    return name, text, encode_png(picture)


def _write_new(folder: Path, name: Path, data: bytes, taken: Counter[Path]) -> Path:
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
    stem = wanted.stem if wanted.suffix.lower() in _PICTURE_SUFFIXES else wanted.name
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


def _no_progress(done: int, total: int) -> None:
    """Say nothing."""
