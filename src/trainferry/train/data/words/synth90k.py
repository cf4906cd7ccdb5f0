"""The Synth90k tree (90kDICT32px) into records, shard by shard, on all cores.

`annotation_{train,val,test}.txt` hold `path index` lines; the label is line `index` of
`lexicon.txt`, counted from 0. A shard that is finished is kept, so a stopped command
goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from trainferry.errors import DataError
from trainferry.train.data.pack import (
    PLACE,
    PackReport,
    Problem,
    Shard,
    pack_shard,
    prepare_folder,
    require_words,
)
from trainferry.train.data.words.picture_files import read_pictures
from trainferry.train.data.words.records import Layout
from trainferry.train.data.workers import map_in_processes

SPLITS = ("train", "val", "test")
LEXICON = "lexicon.txt"
_LEAST_SHARD_BYTES = 1 << 16


@dataclass(frozen=True)
class Synth90kOptions:
    """What to make of the tree."""

    splits: tuple[str, ...] = SPLITS
    layout: Layout = "encoded"
    shards: int = 32
    processes: int = 1


def pack_synth90k(
    tree: Path,
    folder: Path,
    options: Synth90kOptions,
    progress: Callable[[int, int], None] | None = None,
) -> PackReport:
    """Write `<split>_1.tfrecords`, ... for each split; corrupt pictures are listed and left out."""
    annotations = {split: tree / f"annotation_{split}.txt" for split in options.splits}
    for path in (*annotations.values(), tree / LEXICON):
        if not path.is_file():
            raise DataError(
                f"no `{path}`",
                hint="pass the folder of 90kDICT32px that holds lexicon.txt and annotation_*.txt",
            )
    sizes = {split: path.stat().st_size for split, path in annotations.items()}
    for split, size in sizes.items():
        facts = {"from": "synth90k", "bytes": size, "shards": options.shards}
        prepare_folder(folder, split, facts, options.layout)
    jobs = [
        _Job(
            Shard(folder / PLACE / f"{split}_{number}.tfrecords", options.layout),
            tree,
            path,
            start,
            stop,
        )
        for split, path in annotations.items()
        for number, (start, stop) in enumerate(_spans(sizes[split], options.shards), 1)
    ]
    report = PackReport()
    for done, part in enumerate(map_in_processes(_pack, jobs, options.processes), 1):
        report.add(part)
        if progress is not None:
            progress(done, len(jobs))
    require_words(report)
    return report


@dataclass(frozen=True)
class _Job:
    shard: Shard
    tree: Path
    annotation: Path
    start: int
    stop: int


def _spans(size: int, shards: int) -> list[tuple[int, int]]:
    """Cut a file of `size` bytes; a line belongs to the span in which it begins."""
    shards = max(1, min(shards, size // _LEAST_SHARD_BYTES))
    cuts = [size * number // shards for number in range(shards + 1)]
    return list(pairwise(cuts))


def _pack(job: _Job) -> PackReport:
    lexicon = _read_lexicon(job.tree / LEXICON)
    return pack_shard(job.shard, read_pictures(job.tree, _read_words(job, lexicon)))


def _read_words(job: _Job, lexicon: tuple[str, ...]) -> Iterator[tuple[str, str] | Problem]:
    for line in _lines_between(job.annotation, job.start, job.stop):
        name, _, index = line.rpartition(" ")
        if not name or not (index.isascii() and index.isdigit() and len(index) < 19):
            yield Problem(line, "line that is not `path index`")
        elif int(index) >= len(lexicon):
            yield Problem(name, f"index beyond the lexicon: {index} of {len(lexicon)}")
        elif not lexicon[int(index)]:
            yield Problem(name, f"empty text: line {index} of the lexicon")
        else:
            yield name.removeprefix("./"), lexicon[int(index)]


def _lines_between(path: Path, start: int, stop: int) -> Iterator[str]:
    with path.open("rb") as file:
        if start:
            file.seek(start - 1)
            file.readline()
        while file.tell() < stop and (line := file.readline()):
            text = line.decode("utf-8", "backslashreplace").strip()
            if text:
                yield text


@lru_cache(maxsize=1)
def _read_lexicon(path: Path) -> tuple[str, ...]:
    try:
        return tuple(line.strip() for line in path.read_text(encoding="utf-8-sig").split("\n"))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            f"cannot read `{path}`: {error}", hint="use the lexicon.txt of the archive"
        ) from error
