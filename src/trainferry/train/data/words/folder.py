"""A folder of pictures with a `gt.tsv` of `file<TAB>text` lines into records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from trainferry.errors import DataError
from trainferry.train.data.crc32c import crc32c
from trainferry.train.data.pack import (
    NO_TAB,
    PLACE,
    PackReport,
    Problem,
    Shard,
    pack_shard,
    prepare_folder,
    require_words,
)
from trainferry.train.data.words.records import Layout
from trainferry.train.data.workers import map_in_processes

LIST = "gt.tsv"
_WORDS_PER_SHARD = 10_000
_MOST_SHARDS = 64


@dataclass(frozen=True)
class FolderOptions:
    """How a folder of pictures becomes records."""

    split: str = "train"
    layout: Layout = "encoded"
    processes: int = 1


def pack_folder(
    source: Path,
    folder: Path,
    options: FolderOptions,
    progress: Callable[[int, int], None] | None = None,
) -> PackReport:
    """Write `<split>_1.tfrecords`, ...; pictures that cannot be read are listed and left out."""
    lines = _read_list(source / LIST)
    facts = {"from": "folder", "crc": crc32c("\n".join(lines).encode())}
    prepare_folder(folder, options.split, facts, options.layout)
    size = max(_WORDS_PER_SHARD, -(-len(lines) // _MOST_SHARDS))
    jobs = [
        _Job(
            Shard(source, folder / PLACE / f"{options.split}_{number}.tfrecords", options.layout),
            tuple(lines[start : start + size]),
        )
        for number, start in enumerate(range(0, len(lines), size), 1)
    ]
    report = PackReport()
    for done, part in enumerate(map_in_processes(_pack, jobs, options.processes), 1):
        report.add(part)
        if progress is not None:
            progress(min(done * size, len(lines)), len(lines))
    require_words(report)
    return report


@dataclass(frozen=True)
class _Job:
    shard: Shard
    lines: tuple[str, ...]


def _pack(job: _Job) -> PackReport:
    return pack_shard(job.shard, _parse(job.lines))


def _parse(lines: tuple[str, ...]) -> Iterator[tuple[str, str] | Problem]:
    for line in lines:
        name, tab, text = line.partition("\t")
        if not tab:
            yield Problem(line, NO_TAB)
        elif not text:
            yield Problem(name, "empty text")
        else:
            yield name, text


def _read_list(path: Path) -> list[str]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(
            f"cannot read `{path}`: {error.strerror or error}",
            hint=f"the folder needs a {LIST} with one `file<TAB>text` line for each picture",
        ) from error
    lines = []
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        try:
            text = line.decode("utf-8").removesuffix("\r")
        except UnicodeDecodeError as error:
            raise DataError(
                f"line {number} of `{path}` is not UTF-8",
                hint="save the file as UTF-8, for example with iconv -t utf-8",
            ) from error
        if text.strip():
            lines.append(text)
    if not lines:
        raise DataError(f"`{path}` is empty", hint="write one `file<TAB>text` line per picture")
    return lines
