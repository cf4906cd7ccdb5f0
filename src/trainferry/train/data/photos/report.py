"""What became of the photographs that were to be packed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trainferry.train.data.tfrecord import count_files


@dataclass
class PhotoReport:
    """How many photographs were written, and every one that was not, or not as it was."""

    written: Counter[str] = field(default_factory=Counter)
    files: list[Path] = field(default_factory=list)
    kept_files: int = 0
    boxes: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)
    rewritten: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, other: PhotoReport) -> None:
        self.written.update(other.written)
        self.files += other.files
        self.kept_files += other.kept_files
        self.boxes += other.boxes
        self.skipped += other.skipped
        self.rewritten += other.rewritten

    def summary(self) -> str:
        splits = " and ".join(f"{count:,} {name}" for name, count in self.written.items())
        files = count_files(self.files)
        lines = [f"wrote {splits} photographs to {files}", *self.notes]
        if self.kept_files:
            lines.append(f"{self.kept_files} of the files were finished before and kept")
        if self.rewritten:
            kinds = ", ".join(f"{count:,} {kind}" for kind, count in _kinds(self.rewritten).items())
            lines.append(f"written again as RGB JPEG: {kinds}; all are listed in *.rewritten.tsv")
        if self.skipped:
            lines.append(f"skipped {len(self.skipped):,}; all are listed in *.skipped.tsv")
            lines += [f"    {count:,}  {reason}" for reason, count in _kinds(self.skipped).items()]
            lines += [f"    {name}  {reason}" for name, reason in self.skipped[:5]]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        return {
            "written": dict(self.written),
            "files": [str(path) for path in self.files],
            "kept_files": self.kept_files,
            "boxes": self.boxes,
            "notes": self.notes,
            "rewritten": _kinds(self.rewritten),
            "skipped": len(self.skipped),
            "reasons": _kinds(self.skipped),
            "examples": [list(item) for item in self.skipped[:5]],
        }


def _kinds(listed: list[tuple[str, str]]) -> dict[str, int]:
    return dict(Counter(reason.partition(":")[0] for _, reason in listed).most_common())
