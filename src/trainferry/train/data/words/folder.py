"""A folder of pictures with a label file into records."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from trainferry.counted import counted
from trainferry.errors import DataError, UsageError
from trainferry.train.data.crc32c import crc32c
from trainferry.train.data.pack import (
    PLACE,
    PackReport,
    Problem,
    Shard,
    pack_shard,
    path_inside,
    prepare_folder,
    require_words,
)
from trainferry.train.data.words.labels import LIST, LabelFile, open_labels, read_labels
from trainferry.train.data.words.picture_files import Labelled, read_pictures
from trainferry.train.data.words.records import Layout
from trainferry.train.data.workers import map_in_processes

_WORDS_PER_SHARD = 10_000
_MOST_SHARDS = 64


@dataclass(frozen=True)
class FolderOptions:
    """How a folder of pictures becomes records; without `labels`, its gt.tsv names the words.

    `validation` is the share of the pictures that becomes the split `val`.
    """

    split: str = "train"
    layout: Layout = "encoded"
    processes: int = 1
    labels: LabelFile | None = None
    validation: float = 0.0


def pack_folder(
    source: Path,
    folder: Path,
    options: FolderOptions,
    progress: Callable[[int, int], None] | None = None,
) -> PackReport:
    """Write `<split>_1.tfrecords`, ...; pictures that cannot be read are listed and left out."""
    labels = options.labels or open_labels(source / LIST)
    words, text = read_labels(labels)
    facts = {"from": "folder", "crc": crc32c(text.encode())}
    parts = {options.split: words}
    if options.validation:
        facts["validation"] = options.validation
        parts = _split_off(words, options)
    for split in parts:
        prepare_folder(folder, split, facts, options.layout)
    jobs = [
        job for split, some in parts.items() for job in _jobs(source, folder, split, some, options)
    ]
    packed, done = {split: PackReport() for split in parts}, 0
    for job, part in zip(jobs, map_in_processes(_pack, jobs, options.processes), strict=True):
        packed[job.split].add(part)
        done += len(job.words)
        if progress is not None:
            progress(done, len(words))
    report = PackReport()
    for part in packed.values():
        require_words(part, "" if part.written else _explain_paths(source, words, labels))
        report.add(part)
    if options.validation:
        report.notes.append(f"{counted(packed['val'].written, 'word')} of them for validation")
    report.notes += _note_spaces(words)
    return report


def _split_off(words: Sequence[Labelled], options: FolderOptions) -> dict[str, list[Labelled]]:
    """Take a share of the pictures away: nearly the same ones when the list has grown."""
    if options.split != "train":
        raise UsageError(
            f"--validation takes words from the training set, not from `{options.split}`",
            hint="leave --split or --validation out",
        )
    names = {word[0] for word in words if not isinstance(word, Problem)}
    if len(names) < 2:
        raise DataError(
            "there is no second picture for the validation set", hint="leave --validation out"
        )
    count = min(max(1, round(options.validation * len(names))), len(names) - 1)
    ordered = sorted(names, key=lambda name: (zlib.crc32(os.fsencode(name)), name))
    chosen = set(ordered[:count])
    parts: dict[str, list[Labelled]] = {"train": [], "val": []}
    for word in words:
        is_chosen = not isinstance(word, Problem) and word[0] in chosen
        parts["val" if is_chosen else "train"].append(word)
    return parts


@dataclass(frozen=True)
class _Job:
    shard: Shard
    split: str
    source: Path
    words: tuple[Labelled, ...]


def _jobs(
    source: Path, folder: Path, split: str, words: Sequence[Labelled], options: FolderOptions
) -> Iterator[_Job]:
    size = max(_WORDS_PER_SHARD, -(-len(words) // _MOST_SHARDS))
    for number, start in enumerate(range(0, len(words), size), 1):
        shard = Shard(folder / PLACE / f"{split}_{number}.tfrecords", options.layout)
        yield _Job(shard, split, source, tuple(words[start : start + size]))


def _pack(job: _Job) -> PackReport:
    return pack_shard(job.shard, read_pictures(job.source, job.words))


def _note_spaces(words: Sequence[Labelled]) -> Iterator[str]:
    """Say which labels a network can hardly learn: white space at an end is not to be seen."""
    found = [word for word in words if not isinstance(word, Problem) and word[1] != word[1].strip()]
    if found:
        name, text = found[0]
        yield (
            "labels that begin or end with white space, and are kept so: "
            f"{len(found):,}, the first {text!r} of {name}"
        )


def _explain_paths(source: Path, words: Sequence[Labelled], labels: LabelFile) -> str:
    """Say why the first picture of the list is not found, where that can be seen."""
    name = next((word[0] for word in words if not isinstance(word, Problem)), None)
    if name is None:
        return ""
    if "\\" in name:
        return f"write / instead of \\ in the paths of `{labels.path}`, from `{source}` on"
    path = path_inside(source, name)
    if path is None:
        return (
            f"only pictures below `{source}` are read, and no links out of it: pass the folder "
            f"that holds them, with --labels {labels.path} and paths from there on"
        )
    root = _find_root(source, name)
    if root is not None:
        return f"the paths start from `{root}`: pass that folder, with --labels {labels.path}"
    alike = _written_alike(path)
    return f"`{name}` is called `{alike}` here: capitals matter" if alike else ""


def _find_root(source: Path, name: str) -> Path | None:
    """Return the folder that the paths start from, when it is one above the source or in it."""
    above = source.resolve().parents
    inside = sorted(path for path in source.iterdir() if path.is_dir())
    for root in (*above, *inside):
        path = path_inside(root, name)
        if path is not None and path.is_file():
            return root
    return None


def _written_alike(path: Path) -> str | None:
    """Return the name of a file that differs from the path in capitals only."""
    beside = path.parent.iterdir() if path.parent.is_dir() else ()
    wanted = path.name.lower()
    return next((each.name for each in beside if each.name.lower() == wanted), None)
