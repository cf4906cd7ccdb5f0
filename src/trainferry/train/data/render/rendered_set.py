"""A data set that was drawn, not photographed: its record files, and what is told about it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainferry.counted import counted
from trainferry.errors import DataError, MissingPackageError
from trainferry.train.data.render.words.fonts import Refusal
from trainferry.train.data.tfrecord import has_records
from trainferry.train.data.whole_file import explain_write_errors, write_whole


@dataclass(frozen=True)
class Shard:
    """One record file and which samples it holds."""

    path: Path
    first: int
    count: int


@dataclass(frozen=True, kw_only=True)
class RenderReport:
    """What was rendered, and which of the user's fonts were not used."""

    count: int
    files: tuple[Path, ...]
    fonts: int
    refused_fonts: tuple[Refusal, ...]
    seconds: float


def plan_shards(folder: Path, split: str, count: int, size: int) -> list[Shard]:
    """Return the files that hold `count` samples, `size` in each but the last, in a new place."""
    place = folder / "tfrecords"
    with explain_write_errors(place):
        place.mkdir(parents=True, exist_ok=True)
    return [
        Shard(place / f"{split}_{number}.tfrecords", first, min(size, count - first))
        for number, first in enumerate(range(0, count, size), start=1)
    ]


def require_numbers(count: int, shard: int, seed: int, noun: str) -> None:
    """Refuse numbers that no data set can have; `noun` is what one sample is called."""
    if count < 1 or shard < 1:
        raise DataError(
            f"cannot render {count} {noun}s in files of {shard}",
            hint=f"ask for at least one {noun} and one {noun} per file",
        )
    if seed < 0:
        raise DataError(f"seed {seed} is negative", hint="pass a seed of 0 or more")


def require_new_split(folder: Path, split: str) -> None:
    if has_records(folder, split):
        raise DataError(
            f"{folder} already holds record files of the split `{split}`",
            hint="choose another folder, or delete these files first",
        )


def require_opencv(renderer: str) -> None:
    try:
        import cv2  # noqa: F401  # only asked whether it is there
    except ImportError as error:
        raise MissingPackageError("opencv-python-headless", renderer) from error


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep OpenCV from sharing small pictures between threads, which only costs time."""
    import cv2

    before = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        yield
    finally:
        cv2.setNumThreads(before)


def summarise_set(
    report: RenderReport, sample: str, texts: str, left_out: Mapping[str, int]
) -> str:
    """Return the report for people; `sample` and `texts` are what they are called there."""
    rate = report.count / max(report.seconds, 1e-9)
    files = counted(len(report.files), "file")
    lines = [
        f"{counted(report.count, sample)} in {files}, {counted(report.fonts, 'font')}, "
        f"{report.seconds:.1f} s ({rate:.0f} per second)"
    ]
    lines += [f"font not used: {font.path}: {font.reason}" for font in report.refused_fonts]
    lines += [f"{texts} not used: {n}, {why}" for why, n in left_out.items() if n]
    return "\n".join(lines)


def describe_set(
    folder: Path,
    options: Mapping[str, Any],
    report: RenderReport,
    *,
    made_by: str,
    left_out: tuple[str, Mapping[str, int]],
    per_font: tuple[str, Mapping[str, int]],
) -> None:
    """Write `dataset.json`, or `dataset_{split}.json`; the last two are keys with their values."""
    facts = {
        "made_by": made_by,
        "options": {
            key: str(value) if isinstance(value, Path) else value
            for key, value in options.items()
            if key != "processes"
        },
        "count": report.count,
        "files": [path.name for path in report.files],
        left_out[0]: left_out[1],
        "refused_fonts": {str(each.path): each.reason for each in report.refused_fonts},
        per_font[0]: dict(sorted(per_font[1].items())),
    }
    split = options["split"]
    path = folder / f"dataset{'' if split == 'train' else '_' + split}.json"
    text = json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
    write_whole(path, text.encode("utf-8", "backslashreplace"))  # paths need not be UTF-8
