"""Words in LMDB files, as most text recognisers keep them, into records, on all cores.

Keys: `num-samples`, and `image-%09d` with `label-%09d` for each number from 1. The values are a
number in decimal, the bytes of a picture file, and UTF-8.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from trainferry.errors import RecordError
from trainferry.train.data.crc32c import crc32c
from trainferry.train.data.lmdb.file import LmdbFile
from trainferry.train.data.pack import (
    PLACE,
    PackReport,
    Problem,
    Shard,
    Word,
    pack_shard,
    prepare_folder,
    require_words,
)
from trainferry.train.data.words.records import Layout
from trainferry.train.data.workers import map_in_processes

COUNT = b"num-samples"
_PICTURE, _LABEL = b"image-%09d", b"label-%09d"
_WORDS_PER_SHARD = 10_000
_MOST_SHARDS = 256
_MOST_SAMPLES = 10**9 - 1  # of nine digits; keys with more would not be in order
_LEAST_ENTRY_BYTES = 10
_END = (b"\xff" * 16, memoryview(b""))


@dataclass(frozen=True)
class WordLmdb:
    """One LMDB file of words: what it is called, and how many samples it says it has."""

    path: Path
    name: str
    samples: int
    entries: int
    transaction: int

    @property
    def expected(self) -> int:
        """How many entries so many samples have: a picture and a label each, and their number."""
        return 2 * self.samples + 1


@dataclass(frozen=True)
class LmdbOptions:
    """How LMDB files become records."""

    split: str = "train"
    layout: Layout = "encoded"
    processes: int = 1


def open_word_lmdb(path: Path, name: str) -> WordLmdb:
    """Read how many words a file holds. Raises RecordError when it holds something else."""
    file = LmdbFile(path)
    count = file.get(COUNT)
    if count is None:
        raise _not_words(file)
    digits = bytes(count[:20]).strip()
    samples = int(digits) if digits.isdigit() else 0
    entries = min(file.meta.entries, path.stat().st_size // _LEAST_ENTRY_BYTES)
    if not 0 < samples <= _MOST_SAMPLES or samples > entries:
        raise RecordError(
            f"`{path}` says {bytes(count[:20])!r} in `num-samples`, and has {entries:,} entries",
            hint="make it again; `num-samples` is how many pictures there are",
        )
    return WordLmdb(path, name, samples, file.meta.entries, file.meta.transaction)


def pack_lmdbs(
    files: Sequence[WordLmdb],
    folder: Path,
    options: LmdbOptions,
    progress: Callable[[int, int], None] | None = None,
) -> PackReport:
    """Write `<split>_1.tfrecords`, ...; samples that lack something are listed and left out."""
    stamps = [[file.name, file.samples, file.entries, file.transaction] for file in files]
    facts = {"from": "lmdb", "crc": crc32c(json.dumps(stamps).encode())}
    prepare_folder(folder, options.split, facts, options.layout)
    total = sum(file.samples for file in files)
    size = max(_WORDS_PER_SHARD, -(-total // _MOST_SHARDS))
    spans = [
        (file, start, min(start + size, file.samples + 1))
        for file in files
        for start in range(1, file.samples + 1, size)
    ]
    jobs = [
        _Job(Shard(folder / PLACE / f"{options.split}_{number}.tfrecords", options.layout), *span)
        for number, span in enumerate(spans, 1)
    ]
    report, done = PackReport(), 0
    for job, part in zip(jobs, map_in_processes(_pack, jobs, options.processes), strict=True):
        report.add(part)
        done += job.stop - job.start
        if progress is not None:
            progress(done, total)
    require_words(report, _advise(report))
    return report


@dataclass(frozen=True)
class _Job:
    shard: Shard
    file: WordLmdb
    start: int
    stop: int


def _pack(job: _Job) -> PackReport:
    return pack_shard(job.shard, _read_words(job))


def _read_words(job: _Job) -> Iterator[Word | Problem]:
    """Walk through pictures and labels side by side: they lie far apart, each in order."""
    file, numbers = LmdbFile(job.file.path), range(job.start, job.stop)
    pictures = _values(file, [_PICTURE % number for number in numbers])
    labels = _values(file, [_LABEL % number for number in numbers])
    for number, picture, label in zip(numbers, pictures, labels, strict=True):
        name = f"{job.file.name}/image-{number:09d}"
        if picture is None or label is None:
            yield Problem(name, _missing(picture, label))
        elif not label:
            yield Problem(name, "empty text")
        else:
            yield _word(name, picture, label)


def _values(file: LmdbFile, keys: Sequence[bytes]) -> Iterator[memoryview | None]:
    """Yield the value of each key, and None for those that are not there."""
    items = file.items(keys[0])
    key, value = next(items, _END)
    for wanted in keys:
        while key < wanted:
            key, value = next(items, _END)
        yield value if key == wanted else None


def _advise(report: PackReport) -> str:
    if all(reason.startswith("no picture") for reason in report.reasons()):
        return (
            "an LMDB of labels alone has no pictures: pass its label file to `data folder --labels`"
        )
    return "look into the LMDB with the program that made it; it may be damaged"


def _missing(picture: memoryview | None, label: memoryview | None) -> str:
    lacking = [what for what, value in (("picture", picture), ("label", label)) if value is None]
    return f"no {' and no '.join(lacking)} of that number"


def _word(name: str, picture: memoryview, label: memoryview) -> Word | Problem:
    try:
        return Word(name, str(label, "utf-8"), picture)
    except UnicodeDecodeError:
        return Problem(name, f"label that is not UTF-8: {bytes(label[:20])!r}")


def _not_words(file: LmdbFile) -> RecordError:
    keys = [str(key[:40], "utf-8", "backslashreplace") for key, _ in islice(file.items(), 5)]
    shown = ", ".join(f"`{key}`" for key in keys)
    return RecordError(
        f"`{file.path}` has no `num-samples`; its first keys are: {shown or 'none'}",
        hint="words need `num-samples`, `image-000000001`, `label-000000001` and so on, as "
        "create_lmdb_dataset.py of clovaai writes them",
    )
