"""Render a data set of word pictures on all cores and write it as record files."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_args

from trainferry.errors import DataError, MissingPackageError
from trainferry.train.data.pictures import decode_picture, encode_jpeg
from trainferry.train.data.tfrecord import has_records
from trainferry.train.data.whole_file import write_whole
from trainferry.train.data.words.compose import Style, WordPicture
from trainferry.train.data.words.fonts import (
    Font,
    Refusal,
    bundled_fonts,
    find_fonts,
    open_typeface,
)
from trainferry.train.data.words.lexicon import read_words
from trainferry.train.data.words.shards import Progress, Shard, Source, render_shards
from trainferry.train.data.words.sheet import contact_sheet


@dataclass(frozen=True)
class WordsOptions:
    """What to render. The pictures depend on seed, split, fonts, words and style only."""

    count: int
    seed: int = 0
    fonts: Path | None = None
    words: Path | None = None
    processes: int = 0
    split: str = "train"
    shard: int = 10_000
    style: Style = "street"


@dataclass(frozen=True)
class WordsReport:
    """What was rendered, and what of the user's fonts and words was not used."""

    count: int
    files: tuple[Path, ...]
    fonts: int
    refused_fonts: tuple[Refusal, ...]
    left_out_words: dict[str, int]
    seconds: float

    def summary(self) -> str:
        rate = self.count / max(self.seconds, 1e-9)
        lines = [
            f"{self.count:,} word pictures in {_files(len(self.files))}, {self.fonts} fonts, "
            f"{self.seconds:.1f} s ({rate:.0f} per second)"
        ]
        lines += [f"font not used: {font.path}: {font.reason}" for font in self.refused_fonts]
        lines += [f"words not used: {n}, {why}" for why, n in self.left_out_words.items() if n]
        return "\n".join(lines)


def render_words(options: WordsOptions, folder: Path, progress: Progress) -> WordsReport:
    """Write `<folder>/tfrecords/{split}_{number}.tfrecords` and `<folder>/dataset.json`."""
    started = time.monotonic()
    _check(options, folder)
    material = _read_material(options)
    shards = _plan(options, folder)
    counts: Counter[str] = Counter()
    try:
        for used in render_shards(material.source, shards, options.processes, progress):
            counts.update(used)
    except BaseException:
        for shard in shards:  # part of a data set would stand in the way of the next try
            shard.path.unlink(missing_ok=True)
        raise
    report = WordsReport(
        count=options.count,
        files=tuple(shard.path for shard in shards),
        fonts=len(material.source.fonts),
        refused_fonts=material.refused,
        left_out_words=material.left_out,
        seconds=time.monotonic() - started,
    )
    _describe(options, folder, report, counts)
    return report


def render_samples(options: WordsOptions) -> list[WordPicture]:
    """Return the first `count` pictures of the data set, to look at."""
    _check_opencv()
    composer = _read_material(options).source.composer()
    return [composer.compose(index) for index in range(options.count)]


def write_check_sheet(options: WordsOptions, path: Path) -> None:
    """Write the first `count` pictures, as stored, on one page."""
    samples = render_samples(options)
    stored = [encode_jpeg(each.picture, each.look.camera.quality) for each in samples]
    contact_sheet(
        [decode_picture(data) for data in stored], [each.text.label for each in samples], path
    )


def _check(options: WordsOptions, folder: Path) -> None:
    if options.count < 1 or options.shard < 1:
        raise DataError(
            f"cannot render {options.count} pictures in files of {options.shard}",
            hint="ask for at least one picture and one picture per file",
        )
    if options.seed < 0:
        raise DataError(f"seed {options.seed} is negative", hint="pass a seed of 0 or more")
    if not options.split.isidentifier():
        raise DataError(
            f"`{options.split}` cannot name a split", hint="use letters, such as train or valid"
        )
    if options.style not in get_args(Style):
        raise DataError(
            f"unknown style `{options.style}`", hint=f"choose one of {', '.join(get_args(Style))}"
        )
    if has_records(folder, options.split):
        raise DataError(
            f"{folder} already holds record files of the split `{options.split}`",
            hint="choose another folder, or delete these files first",
        )
    _check_opencv()


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def _check_opencv() -> None:
    try:
        import cv2  # noqa: F401  # only asked whether it is there
    except ImportError as error:
        raise MissingPackageError("opencv-python-headless", "the word renderer") from error


@dataclass(frozen=True)
class _Material:
    """What pictures are drawn from, and what of the user's fonts and words cannot be used."""

    source: Source
    refused: tuple[Refusal, ...]
    left_out: dict[str, int]


def _read_material(options: WordsOptions) -> _Material:
    refused: list[Refusal] = []
    if options.fonts is None:
        fonts = bundled_fonts()
    else:
        fonts, refused = find_fonts(options.fonts)
    words: tuple[str, ...] = ()
    left_out: dict[str, int] = {}
    if options.words is not None:
        read = read_words(options.words, _drawable_by(fonts))
        words, left_out = read.words, read.left_out
    elif not _drawable_by(fonts)("ABCXYZabcxyz0189"):
        raise DataError(
            "no font has the Latin letters and digits of the bundled words",
            hint="add a Latin font, or pass a word list in the script of your fonts",
        )
    source = Source(options.seed, options.split, tuple(fonts), words, options.style)
    return _Material(source, tuple(refused), left_out)


def _drawable_by(fonts: list[Font]) -> Callable[[str], bool]:
    return lambda text: any(open_typeface(font.path).draws(text) for font in fonts)


def _plan(options: WordsOptions, folder: Path) -> list[Shard]:
    place = folder / "tfrecords"
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            f"cannot make the folder {place}: {error.strerror}", hint="choose another folder"
        ) from error
    return [
        Shard(
            place / f"{options.split}_{number}.tfrecords",
            first,
            min(options.shard, options.count - first),
        )
        for number, first in enumerate(range(0, options.count, options.shard), start=1)
    ]


def _describe(
    options: WordsOptions, folder: Path, report: WordsReport, counts: Counter[str]
) -> None:
    told = {
        key: str(value) if isinstance(value, Path) else value
        for key, value in asdict(options).items()
        if key != "processes"
    }
    facts = {
        "made_by": "trainferry data words",
        "options": told,
        "count": report.count,
        "files": [path.name for path in report.files],
        "left_out_words": report.left_out_words,
        "refused_fonts": {str(each.path): each.reason for each in report.refused_fonts},
        "pictures_per_font": dict(sorted(counts.items())),
    }
    path = folder / f"dataset{'' if options.split == 'train' else '_' + options.split}.json"
    text = json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
    write_whole(path, text.encode("utf-8", "backslashreplace"))  # paths need not be UTF-8
