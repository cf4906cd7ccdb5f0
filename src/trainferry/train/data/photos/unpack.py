"""Records of photographs back into folders by class, as `data folder` reads them."""

from __future__ import annotations

import itertools
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trainferry.errors import DataError
from trainferry.train.data.photos.classes import natural_order
from trainferry.train.data.photos.records import PhotoRecords, PhotoSample
from trainferry.train.data.photos.tree import is_picture
from trainferry.train.data.whole_file import explain_write_errors
from trainferry.train.data.words.unpack import safe_name

NAMES = "names.tsv"
_SUFFIXES = ((b"\xff\xd8", ".jpg"), (b"\x89PNG", ".png"), (b"GIF8", ".gif"), (b"BM", ".bmp"))


@dataclass
class PhotoUnpackReport:
    """How many pictures of how many classes were written, and what could not be."""

    written: int = 0
    folders: dict[int, str] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    skipped: list[tuple[str, str]] = field(default_factory=list)

    def summary(self) -> str:
        lines = [f"wrote {self.written:,} pictures of {len(self.folders):,} classes and {NAMES}"]
        if self.skipped:
            lines.append(f"skipped {len(self.skipped):,}")
            lines += [f"    {name}  {reason}" for name, reason in self.skipped[:5]]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        return {
            "written": self.written,
            "classes": len(self.folders),
            "skipped": len(self.skipped),
            "examples": [list(item) for item in self.skipped[:5]],
        }


def unpack_photos(
    splits: Mapping[str, Sequence[Path]],
    folder: Path,
    progress: Callable[[int, int], None] | None = None,
) -> PhotoUnpackReport:
    """Write every picture byte for byte to `<split>/<class>/`, all or nothing.

    A split called "" has no folder of its own. What people call the classes is in names.tsv.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"`{folder}` exists and is not empty", hint="pass a new folder to --to")
    opened = {split: PhotoRecords(paths) for split, paths in splits.items()}
    total = sum(map(len, opened.values()))
    beside = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    report = PhotoUnpackReport()
    try:
        with explain_write_errors(folder):
            beside.mkdir(parents=True)
            for split, records in opened.items():
                _unpack_split(records, beside / split, report, total, progress)
            _write_names(beside / NAMES, report)
            if folder.is_dir():
                folder.rmdir()
            beside.rename(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return report


def _unpack_split(
    records: PhotoRecords,
    root: Path,
    report: PhotoUnpackReport,
    total: int,
    progress: Callable[[int, int], None] | None,
) -> None:
    report.skipped += [(one.path.name, str(one)) for one in records.damage]
    taken: Counter[Path] = Counter()
    for number in range(len(records)):
        try:
            sample = records.sample(number)
        except DataError as error:
            report.skipped.append((records.where(number), str(error)))
            continue
        place = root / _folder_of(sample, report)
        place.mkdir(parents=True, exist_ok=True)
        _write_new(sample, place, taken)
        report.written += 1
        if progress is not None and (report.written % 200 == 0 or report.written == total):
            progress(report.written, total)


def _folder_of(sample: PhotoSample, report: PhotoUnpackReport) -> str:
    """Choose one folder for each label, with a harmless name that no other label has."""
    if sample.label not in report.folders:
        wanted = sample.folder or sample.text or f"{sample.label}"
        name = str(safe_name(re.sub(r"[/\\]", "_", wanted)))
        if name.lower() in {one.lower() for one in report.folders.values()}:
            name = f"{name}-{sample.label}"
        report.folders[sample.label] = name
        report.names[sample.label] = " ".join(sample.text.split()) or wanted
    return report.folders[sample.label]


def _write_new(sample: PhotoSample, place: Path, taken: Counter[Path]) -> None:
    """Write under a name not yet taken, with the suffix that fits the bytes."""
    name = Path(safe_name(sample.name).name)
    stem = name.stem if is_picture(name.name) else name.name
    head = bytes(sample.encoded[:4])
    suffix = next((end for magic, end in _SUFFIXES if head.startswith(magic)), ".bin")
    if suffix == ".jpg" and name.suffix.lower() in (".jpg", ".jpeg"):
        suffix = name.suffix
    wanted = place / f"{stem}{suffix}"
    for count in itertools.count(taken[wanted] + 1):
        path = place / f"{stem}-{count}{suffix}" if count > 1 else wanted
        try:
            with path.open("xb") as file:
                file.write(sample.encoded)
        except FileExistsError:
            continue
        taken[wanted] = count
        return


def _write_names(path: Path, report: PhotoUnpackReport) -> None:
    folders = sorted(report.folders.items(), key=lambda item: natural_order(item[1]))
    lines = [f"{folder}\t{report.names[label]}\n" for label, folder in folders]
    path.write_text("".join(lines), encoding="utf-8")
