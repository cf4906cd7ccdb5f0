"""Render a data set of word pictures on all cores and write it as record files."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_args

from trainferry.errors import DataError
from trainferry.train.data.pictures import decode_picture, encode_jpeg
from trainferry.train.data.render.rendered_set import (
    RenderReport,
    Shard,
    describe_set,
    plan_shards,
    require_new_split,
    require_opencv,
    summarise_set,
)
from trainferry.train.data.render.words.compose import Style, WordPicture
from trainferry.train.data.render.words.fonts import (
    Font,
    Refusal,
    bundled_fonts,
    find_fonts,
    open_typeface,
)
from trainferry.train.data.render.words.lexicon import read_words
from trainferry.train.data.render.words.shards import Progress, Source, render_shards
from trainferry.train.data.render.words.sheet import contact_sheet

_RENDERER = "the word renderer"


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


@dataclass(frozen=True, kw_only=True)
class WordsReport(RenderReport):
    """What was rendered, and what of the user's fonts and words was not used."""

    left_out_words: dict[str, int]

    def summary(self) -> str:
        return summarise_set(self, "word pictures", "words", self.left_out_words)


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
    describe_set(
        folder,
        asdict(options),
        report,
        made_by="trainferry data words",
        left_out=("left_out_words", report.left_out_words),
        per_font=("pictures_per_font", counts),
    )
    return report


def render_samples(options: WordsOptions) -> list[WordPicture]:
    """Return the first `count` pictures of the data set, to look at."""
    require_opencv(_RENDERER)
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
    require_new_split(folder, options.split)
    require_opencv(_RENDERER)


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
    return plan_shards(place, options.split, options.count, options.shard)
