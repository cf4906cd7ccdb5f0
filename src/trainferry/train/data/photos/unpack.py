"""Records of photographs back into folders by class, as `data folder` reads them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trainferry.counted import counted
from trainferry.errors import DataError
from trainferry.train.data.new_folder import new_folder, safe_name, write_new
from trainferry.train.data.photos.classes import natural_order
from trainferry.train.data.photos.records import PhotoRecords, PhotoSample
from trainferry.train.data.skipped import skipped_to_json, summarise_skipped

NAMES = "names.tsv"


@dataclass
class PhotoUnpackReport:
    """How many pictures of how many classes were written, and what could not be."""

    written: int = 0
    folders: dict[int, str] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    skipped: list[tuple[str, str]] = field(default_factory=list)

    def summary(self) -> str:
        pictures = counted(self.written, "picture")
        classes = counted(len(self.folders), "class", "classes")
        lines = [f"wrote {pictures} of {classes} and {NAMES}"]
        return "\n".join([*lines, *summarise_skipped(self.skipped)])

    def to_json(self) -> dict[str, Any]:
        return {
            "written": self.written,
            "classes": len(self.folders),
            **skipped_to_json(self.skipped),
        }


def unpack_photos(
    splits: Mapping[str, Sequence[Path]],
    folder: Path,
    progress: Callable[[int, int], None] | None = None,
) -> PhotoUnpackReport:
    """Write every picture byte for byte to `<split>/<class>/`, all or nothing.

    A split called "" has no folder of its own. What people call the classes is in names.tsv.
    """
    report = PhotoUnpackReport()
    with new_folder(folder, last=NAMES) as beside:
        opened = {split: PhotoRecords(paths) for split, paths in splits.items()}
        total = sum(map(len, opened.values()))
        for split, records in opened.items():
            _unpack_split(records, beside / split, report, total, progress)
        _write_names(beside / NAMES, report)
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
        name = Path(safe_name(sample.name).name)
        write_new(place, name, bytes(sample.encoded), taken)
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


def _write_names(path: Path, report: PhotoUnpackReport) -> None:
    folders = sorted(report.folders.items(), key=lambda item: natural_order(item[1]))
    lines = [f"{folder}\t{report.names[label]}\n" for label, folder in folders]
    path.write_text("".join(lines), encoding="utf-8")
