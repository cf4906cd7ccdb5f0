"""A folder of views and texts into FSNS records.

`gt.tsv` has one line for each sign, either `strip.png<TAB>text` with the views side by side
in one picture, or `first.jpg|second.jpg<TAB>text` with a picture for each view; further
columns are not read. Where views are missing, or a view is not square, FSNS shows noise: so
do these records.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from trainferry.counted import counted
from trainferry.errors import DataError, PictureError
from trainferry.train.data.pack import PLACE, path_inside, skip_list
from trainferry.train.data.pictures import Picture, decode_picture, encode_png
from trainferry.train.data.signs.charset import (
    LONGEST_TEXT,
    Charset,
    fsns_charset,
    read_charset,
    write_charset,
)
from trainferry.train.data.signs.example import SIDE, VIEWS, build_sign
from trainferry.train.data.signs.views import place_views
from trainferry.train.data.skipped import count_reasons, skipped_to_json, summarise_skipped
from trainferry.train.data.tfrecord import RecordWriter, count_files, has_records
from trainferry.train.data.whole_file import write_whole
from trainferry.train.data.workers import map_in_processes

LIST = "gt.tsv"
BETWEEN_VIEWS = "|"

_SIGNS_PER_SHARD = 2_000
_KEPT_AS_THEY_ARE = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n")


@dataclass(frozen=True)
class FsnsOptions:
    """How a folder of views becomes records.

    Pictures of `views` squares, `side` pixels wide, and texts up to `longest` characters; FSNS's
    if nothing else is said.
    """

    split: str = "train"
    charset: Path | None = None
    processes: int = 1
    views: int = VIEWS
    side: int = SIDE
    longest: int = LONGEST_TEXT


@dataclass
class FsnsReport:
    """How many signs were written, with how many views, and every one that was not."""

    views: Counter[int] = field(default_factory=Counter)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)

    @property
    def written(self) -> int:
        return self.views.total()

    def add(self, other: FsnsReport) -> None:
        self.views.update(other.views)
        self.skipped += other.skipped
        self.files += other.files

    def reasons(self) -> dict[str, int]:
        return dict(count_reasons(self.skipped).most_common())

    def summary(self) -> str:
        files = count_files(self.files)
        lines = [f"wrote {counted(self.written, 'sign')} to {files}"]
        lines += [
            f"    {self.views[count]:,} with {counted(count, 'view')}"
            for count in sorted(self.views, reverse=True)
        ]
        return "\n".join([*lines, *summarise_skipped(self.skipped, self.reasons())])

    def to_json(self) -> dict[str, Any]:
        return {
            "written": self.written,
            "views": {str(count): number for count, number in sorted(self.views.items())},
            "files": [str(path) for path in self.files],
            **skipped_to_json(self.skipped, self.reasons()),
        }


def pack_fsns(
    source: Path,
    folder: Path,
    options: FsnsOptions,
    progress: Callable[[int, int], None] | None = None,
) -> FsnsReport:
    """Write `<split>_1.tfrecords`, ... and the charset; what cannot be packed is listed."""
    charset = fsns_charset() if options.charset is None else read_charset(options.charset)
    lines = _read_list(source / LIST)
    _check_target(folder, options.split)
    jobs = [
        _Job(
            source,
            folder / PLACE / f"{options.split}_{number}.tfrecords",
            charset,
            options,
            tuple(lines[start : start + _SIGNS_PER_SHARD]),
        )
        for number, start in enumerate(range(0, len(lines), _SIGNS_PER_SHARD), 1)
    ]
    report = FsnsReport()
    done = 0
    for job, part in zip(jobs, map_in_processes(_pack, jobs, options.processes), strict=True):
        report.add(part)
        done += len(job.lines)
        if progress is not None:
            progress(done, len(lines))
    _require_signs(report)
    write_charset(charset, folder)
    return report


def join_views(
    views: list[Picture], seed: int, *, places: int = VIEWS, side: int = SIDE
) -> Picture:
    """Put views side by side, each whole in its square; what they do not cover is noise."""
    return place_views(views, places=places, height=side, width=side, seed=seed)


@dataclass(frozen=True)
class _Job:
    source: Path
    target: Path
    charset: Charset
    options: FsnsOptions
    lines: tuple[str, ...]


class _SkippedError(Exception):
    """One sign cannot be packed; the others go on."""


def _pack(job: _Job) -> FsnsReport:
    report = FsnsReport(files=[job.target])
    with RecordWriter(job.target) as writer:
        for line in job.lines:
            names, text, *_ = [*line.split("\t"), ""]
            try:
                encoded, present = _read_sign(job, names, text)
            except _SkippedError as error:
                report.skipped.append((names, str(error)))
                continue
            writer.write(_build(job, encoded, text, present))
            report.views[present] += 1
        if report.skipped:
            listed = "".join(f"{name}\t{reason}\n" for name, reason in report.skipped)
            write_whole(skip_list(job.target), listed.encode("utf-8", "backslashreplace"))
    return report


def _build(job: _Job, encoded: bytes, text: str, present: int) -> bytes:
    views, side, longest = job.options.views, job.options.side, job.options.longest
    return build_sign(encoded, text, job.charset, present, views, side=side, length=longest)


def _read_sign(job: _Job, names: str, text: str) -> tuple[bytes, int]:
    """Return the encoded picture and how many views it shows."""
    charset, views = job.charset, job.options.views
    if not text.strip():
        raise _SkippedError("no text: the line needs `file<TAB>text`")
    try:
        charset.padded(text, job.options.longest)
    except DataError as error:
        kind = "unknown character" if charset.unknown(text) else "too long"
        raise _SkippedError(f"{kind}: {error}") from None
    files = names.split(BETWEEN_VIEWS)
    if len(files) > views:
        raise _SkippedError(f"too many views: {len(files)}, a sign has up to {views}")
    pictures = [_read_picture(job.source, name) for name in files]
    if len(files) > 1 or _is_one_view(pictures[0][1], views):
        shown, seed = [picture for _, picture in pictures], zlib.crc32(names.encode())
        return encode_png(join_views(shown, seed, places=views, side=job.options.side)), len(files)
    return _keep_strip(*pictures[0], views, job.options.side)


def _keep_strip(data: bytes, picture: Picture, views: int, side: int) -> tuple[bytes, int]:
    """Return a strip of views as it is, or raise when it is none."""
    height, width = picture.shape[:2]
    if (height, width) != (side, side * views):
        raise _SkippedError(
            f"wrong size: {width} x {height}; {views} views of {side} x {side} side by side "
            f"are {side * views} x {side}"
        )
    kept = data if data.startswith(_KEPT_AS_THEY_ARE) else encode_png(picture)
    present = views
    while present > 1 and _is_noise(picture[:, (present - 1) * side : present * side]):
        present -= 1
    return kept, present


def _is_one_view(picture: Picture, views: int) -> bool:
    """Tell whether a picture is far from a strip: a photograph, not several of them."""
    return views == 1 or picture.shape[1] < 2 * picture.shape[0]


def _is_noise(view: Picture) -> bool:
    """Tell whether neighbours have nothing to do with each other, as in no photograph."""
    values = view.astype(np.float32) - np.float32(view.mean())
    spread = float((values**2).mean())
    if spread < 2000:
        return False
    return abs(float((values[:, 1:] * values[:, :-1]).mean())) < 0.1 * spread


def _read_picture(source: Path, name: str) -> tuple[bytes, Picture]:
    if not name:
        raise _SkippedError("no file: the line needs `file<TAB>text`")
    path = path_inside(source, name)
    if path is None:
        raise _SkippedError(f"path outside the folder: {name}")
    try:
        data = path.read_bytes()
        return data, decode_picture(data)
    except OSError as error:
        raise _SkippedError(f"picture cannot be read: {error.strerror or error}") from None
    except PictureError as error:
        raise _SkippedError(f"unreadable picture: {error}") from None


def _read_list(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(
            f"cannot read `{path}`: {error.strerror or error}",
            hint=f"the folder needs a {LIST} with one `file<TAB>text` line for each sign",
        ) from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"`{path}` is not UTF-8",
            hint="save the file as UTF-8, for example with iconv -t utf-8",
        ) from error
    lines = [line.removesuffix("\r") for line in text.split("\n") if line.strip()]
    if not lines:
        raise DataError(f"`{path}` is empty", hint="write one `file<TAB>text` line for each sign")
    return lines


def _check_target(folder: Path, split: str) -> None:
    if not split.isidentifier():
        raise DataError(
            f"`{split}` cannot name a split", hint="use letters, such as train, val or test"
        )
    if has_records(folder, split):
        raise DataError(
            f"`{folder}` already holds record files of the split `{split}`",
            hint="pass another folder to --to, another --split, or delete the old records",
        )


def _require_signs(report: FsnsReport) -> None:
    if report.written:
        return
    for path in report.files:
        path.unlink(missing_ok=True)
    shown = "; ".join(f"{name}: {reason}" for name, reason in report.skipped[:3])
    raise DataError(
        f"not one sign could be packed; {shown}",
        hint="check that the list and the pictures belong together",
    )
