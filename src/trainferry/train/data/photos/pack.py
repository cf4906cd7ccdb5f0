"""Photographs into shards of ImageNet records; what is left out or written again is listed."""

from __future__ import annotations

import io
import json
import random
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from trainferry.errors import DataError, PictureError
from trainferry.train.data.example import Scalar, build_example
from trainferry.train.data.orientation import is_turned
from trainferry.train.data.pack import read_facts, skip_list
from trainferry.train.data.photos.boxes import XmlBoxes
from trainferry.train.data.photos.classes import PhotoClass, write_classes
from trainferry.train.data.photos.example import Boxes
from trainferry.train.data.photos.records import has_photo_records
from trainferry.train.data.photos.report import PhotoReport
from trainferry.train.data.photos.smaller import decode_for
from trainferry.train.data.pictures import encode_jpeg
from trainferry.train.data.tfrecord import RecordFile, RecordWriter
from trainferry.train.data.whole_file import write_whole
from trainferry.train.data.workers import map_in_processes

_SEED = 12345
_FACTS = "packed.json"
_QUALITY = 100  # as the originals write pictures again
SMALLER_QUALITY = 92  # and colours at half the resolution, as cameras do


class Photo(NamedTuple):
    """A picture to pack: its path below the source, its label from 1, and its boxes if known."""

    path: str
    label: int
    boxes: Boxes = ()


@dataclass(frozen=True)
class PhotoSplit:
    """What becomes `name`-00000-of-`shards` and so on; the paths of photos are below `source`."""

    name: str
    source: Path
    photos: Sequence[Photo]
    shards: int
    boxes: XmlBoxes | None = None


def pack_photos(
    splits: Sequence[PhotoSplit],
    classes: Sequence[PhotoClass],
    folder: Path,
    processes: int,
    progress: Callable[[int, int], None] | None = None,
    *,
    short_side: int = 0,
) -> PhotoReport:
    """Write all splits, shuffled, and `classes.json`; finished shards of before are kept.

    With a `short_side`, photographs whose short side is longer are made smaller.
    """
    _begin(splits, classes, folder, short_side)
    report = PhotoReport()
    total, done = sum(len(split.photos) for split in splits), 0
    for split in splits:
        jobs = _share_out(split, folder)
        context = _Context(split.name, split.source, tuple(classes), split.boxes, short_side)
        parts = map_in_processes(_pack_shard, jobs, processes, _prepare, (context,))
        packed = PhotoReport()
        for job, part in zip(jobs, parts, strict=True):
            packed.add(part)
            done += len(job.photos)
            if progress is not None:
                progress(done, total)
        _require_some(packed, split)
        report.add(packed)
    return report


def encode_photo(data: bytes, short_side: int = 0) -> tuple[bytes, tuple[int, int], str]:
    """Return a grey or RGB JPEG, its height and width, and what it was if it was another.

    A `short_side` makes larger ones smaller, as they are stored: whoever reads them pays no heed to
    EXIF either. Raises PictureError for what is no whole picture.
    """
    picture, is_smaller = decode_for(data, short_side)
    kind = _other_kind(data)
    if is_smaller:
        data = encode_jpeg(picture, SMALLER_QUALITY, "4:2:0")
        kind = f"{kind or 'JPEG'} made smaller"
    elif kind:
        data = encode_jpeg(picture, _QUALITY)
    return data, (picture.shape[0], picture.shape[1]), kind


def rewritten_list(target: Path) -> Path:
    return target.with_name(f"{target.stem}.rewritten.tsv")


def _begin(
    splits: Sequence[PhotoSplit], classes: Sequence[PhotoClass], folder: Path, short_side: int
) -> None:
    """Refuse to mix with records of other data or options, then say what is being packed."""
    known = read_facts(folder / _FACTS)
    smaller = {"short_side": short_side} if short_side else {}
    facts = {split.name: {**_facts_of(split, classes), **smaller} for split in splits}
    for name, wanted in facts.items():
        if known.get(name) != wanted and has_photo_records(folder, name):
            raise DataError(
                f"`{folder}` already holds `{name}` records of other data or options",
                hint="pass another folder to --to, or delete the old records",
            )
        for leftover in folder.glob(f".{name}-*.part"):
            leftover.unlink(missing_ok=True)
    write_classes(folder, classes)
    write_whole(folder / _FACTS, json.dumps({**known, **facts}, indent=2, sort_keys=True).encode())


def _facts_of(split: PhotoSplit, classes: Sequence[PhotoClass]) -> dict[str, Any]:
    listing = zlib.crc32(repr([(one.name, one.folder) for one in classes]).encode())
    for photo in split.photos:
        listing = zlib.crc32(repr(tuple(photo)).encode("utf-8", "surrogateescape"), listing)
    return {
        "from": "photographs",
        "pictures": len(split.photos),
        "shards": split.shards,
        "xml_boxes": split.boxes is not None,
        "crc": listing,
    }


class _Job(NamedTuple):
    target: Path
    photos: Sequence[Photo]


class _Context(NamedTuple):
    split: str
    source: Path
    classes: tuple[PhotoClass, ...]
    boxes: XmlBoxes | None
    short_side: int


_in_process: list[_Context] = []


def _prepare(context: _Context) -> None:
    _in_process[:] = [context]


def _share_out(split: PhotoSplit, folder: Path) -> list[_Job]:
    photos = list(split.photos)
    random.Random(_SEED).shuffle(photos)
    count, shards = len(photos), split.shards
    return [
        _Job(
            folder / f"{split.name}-{number:05d}-of-{shards:05d}",
            photos[count * number // shards : count * (number + 1) // shards],
        )
        for number in range(shards)
    ]


def _pack_shard(job: _Job) -> PhotoReport:
    (context,) = _in_process
    lists = (skip_list(job.target), rewritten_list(job.target))
    if job.target.exists():
        skipped, rewritten = map(_read_list, lists)
        written = Counter({context.split: len(RecordFile(job.target))})
        files = [job.target]
        return PhotoReport(written, files, kept_files=1, skipped=skipped, rewritten=rewritten)
    report = PhotoReport(files=[job.target])
    with RecordWriter(job.target) as writer:
        for photo in job.photos:
            try:
                built = _build_record(context, photo)
            except _SkippedError as error:
                report.skipped.append((photo.path, str(error)))
                continue
            writer.write(built.record)
            report.boxes += built.boxes
            report.turned += built.is_turned
            if built.kind:
                report.rewritten.append((photo.path, built.kind))
        report.written[context.split] = writer.count
        # Written before the shard gets its name, so that a finished shard has its lists.
        _write_list(lists[0], report.skipped)
        _write_list(lists[1], report.rewritten)
    return report


class _Built(NamedTuple):
    record: bytes
    kind: str
    boxes: int
    is_turned: bool


def _build_record(context: _Context, photo: Photo) -> _Built:
    path = context.source / photo.path
    try:
        stored = path.read_bytes()
        data, (height, width), kind = encode_photo(stored, context.short_side)
    except OSError as error:
        raise _SkippedError("picture cannot be read", error.strerror or str(error)) from None
    except PictureError as error:
        raise _SkippedError("unreadable picture", str(error)) from None
    one = context.classes[photo.label - 1]
    boxes = photo.boxes
    if context.boxes is not None:
        boxes = context.boxes.read(photo.path, one.folder)
    sides = zip(*boxes, strict=True) if boxes else ((), (), (), ())
    features: dict[str, Scalar | Sequence[Scalar]] = {
        "image/height": height,
        "image/width": width,
        "image/colorspace": "RGB",
        "image/channels": 3,
        "image/class/label": photo.label,
        "image/class/synset": one.folder,
        "image/class/text": one.name,
        "image/object/bbox/label": [photo.label] * len(boxes),
        "image/format": "JPEG",
        "image/filename": path.name.encode("utf-8", "surrogateescape"),
        "image/encoded": data,
    }
    for side, values in zip(("ymin", "xmin", "ymax", "xmax"), sides, strict=True):
        features[f"image/object/bbox/{side}"] = values
    return _Built(build_example(features), kind, len(boxes), is_turned(stored))


def _other_kind(data: bytes) -> str:
    """Name what is no JPEG of one or three colours."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data)) as image:
                kind, mode = image.format or "unknown", image.mode
    except Image.DecompressionBombError:
        return ""  # no other kind is read at such a size
    except OSError:
        return ""  # odd headers before a picture that was decoded in full
    if data.startswith(b"\xff\xd8"):
        return "CMYK JPEG" if mode == "CMYK" else ""
    return kind


def _require_some(report: PhotoReport, split: PhotoSplit) -> None:
    """Raise DataError, and keep no record file, when nothing could be packed."""
    if report.written.total():
        return
    for path in report.files:
        path.unlink(missing_ok=True)  # an empty file would count as finished next time
    shown = "; ".join(f"{name}: {reason}" for name, reason in report.skipped[:3])
    raise DataError(
        f"not one `{split.name}` picture could be packed{'; ' + shown if shown else ''}",
        hint="check that these are pictures, and that you may read them",
    )


class _SkippedError(Exception):
    """One picture cannot be packed; the others go on."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")


def _read_list(path: Path) -> list[tuple[str, str]]:
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [(name, reason) for name, _, reason in (line.partition("\t") for line in lines)]


def _write_list(path: Path, items: Sequence[tuple[str, str]]) -> None:
    if not items:
        path.unlink(missing_ok=True)
        return
    text = "".join(
        f"{' '.join(name.split())}\t{' '.join(reason.split())}\n" for name, reason in items
    )
    write_whole(path, text.encode("utf-8", "backslashreplace"))
