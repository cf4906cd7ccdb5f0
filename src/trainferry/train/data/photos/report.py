"""What became of the photographs that were to be packed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trainferry.train.data.skipped import count_reasons, skipped_to_json, summarise_skipped
from trainferry.train.data.tfrecord import count_files


@dataclass
class PhotoReport:
    """How many photographs were written, and every one that was not, or not as it was."""

    written: Counter[str] = field(default_factory=Counter)
    files: list[Path] = field(default_factory=list)
    kept_files: int = 0
    boxes: int = 0
    turned: int = 0
    """Photographs that count on their EXIF to be turned, of the files written now."""
    skipped: list[tuple[str, str]] = field(default_factory=list)
    rewritten: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, other: PhotoReport) -> None:
        self.written.update(other.written)
        self.files += other.files
        self.kept_files += other.kept_files
        self.boxes += other.boxes
        self.turned += other.turned
        self.skipped += other.skipped
        self.rewritten += other.rewritten

    def summary(self) -> str:
        splits = " and ".join(f"{count:,} {name}" for name, count in self.written.items())
        files = count_files(self.files)
        photographs = "photograph" if self.written.total() == 1 else "photographs"
        lines = [f"wrote {splits} {photographs} to {files}", *self.notes]
        if self.kept_files:
            lines.append(f"{self.kept_files} of the files were finished before and kept")
        if self.rewritten:
            kinds = ", ".join(f"{count:,} {kind}" for kind, count in _kinds(self.rewritten).items())
            lines.append(f"written again as RGB JPEG: {kinds}; all are listed in *.rewritten.tsv")
        if self.turned:
            lines.append(
                f"stored rotated, to be shown upright by EXIF, which is ignored: {self.turned:,}; "
                "rotate them first, for example with `exiftran -ai *.jpg`, unless the pictures to "
                "be named later are stored alike"
            )
        return "\n".join([*lines, *summarise_skipped(self.skipped, _kinds(self.skipped))])

    def to_json(self) -> dict[str, Any]:
        return {
            "written": dict(self.written),
            "files": [str(path) for path in self.files],
            "kept_files": self.kept_files,
            "boxes": self.boxes,
            "turned": self.turned,
            "notes": self.notes,
            "rewritten": _kinds(self.rewritten),
            **skipped_to_json(self.skipped, _kinds(self.skipped)),
        }


def _kinds(listed: list[tuple[str, str]]) -> dict[str, int]:
    return dict(count_reasons(listed).most_common())
