"""Render a data set of word pictures on all cores and write it as record files."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_args

from trainferry.errors import DataError
from trainferry.train.data.example import build_example
from trainferry.train.data.pictures import decode_picture, encode_jpeg
from trainferry.train.data.render.rendered_set import (
    RenderReport,
    describe_set,
    plan_shards,
    require_new_split,
    require_numbers,
    require_opencv,
    summarise_set,
)
from trainferry.train.data.render.shards import Draw, Drawn, Progress, render_shards
from trainferry.train.data.render.words.compose import Composer, Style, WordPicture
from trainferry.train.data.render.words.fonts import (
    Font,
    Refusal,
    bundled_fonts,
    find_fonts,
    open_typeface,
)
from trainferry.train.data.render.words.lexicon import Lexicon, Lines, read_words
from trainferry.train.data.render.words.sheet import contact_sheet

_RENDERER = "the word renderer"


@dataclass(frozen=True)
class WordsOptions:
    """What to render. The pictures depend on seed, split, fonts, words, lines and style only.

    With `lines` the words are whole lines of text.
    """

    count: int
    seed: int = 0
    fonts: Path | None = None
    words: Path | None = None
    processes: int = 0
    split: str = "train"
    shard: int = 10_000
    style: Style = "street"
    lines: bool = False


@dataclass(frozen=True, kw_only=True)
class WordsReport(RenderReport):
    """What was rendered, and what of the user's fonts and words was not used."""

    left_out_words: dict[str, int]

    def summary(self) -> str:
        return summarise_set(self, "word picture", "words", self.left_out_words)


def render_words(options: WordsOptions, folder: Path, progress: Progress) -> WordsReport:
    """Write `<folder>/tfrecords/{split}_{number}.tfrecords` and `<folder>/dataset.json`."""
    started = time.monotonic()
    _check(options, folder)
    material = _read_material(options)
    shards = plan_shards(folder, options.split, options.count, options.shard)
    counts = render_shards(material.source, shards, options.processes, progress)
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
    require_numbers(options.count, options.shard, options.seed, "picture")
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
class _Source:
    """All that a process needs to draw any picture of the data set."""

    seed: int
    split: str
    fonts: tuple[Font, ...]
    words: tuple[str, ...]
    style: Style
    lines: bool

    def composer(self) -> Composer:
        lexicon = Lines(self.words) if self.lines else Lexicon(self.words)
        return Composer(self.seed, self.split, lexicon, self.fonts, self.style)

    def drawing(self) -> Draw:
        composer = self.composer()

        def draw(index: int) -> Drawn:
            word = composer.compose(index)
            return Drawn(_example(word, index), word.font)

        return draw


@dataclass(frozen=True)
class _Material:
    """What pictures are drawn from, and what of the user's fonts and words cannot be used."""

    source: _Source
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
        read = read_words(options.words, _drawable_by(fonts), whole=options.lines)
        words, left_out = read.words, read.left_out
    elif options.lines:
        raise DataError(
            "the bundled words are no lines of text", hint="pass yours: --lines --words FILE"
        )
    elif not _drawable_by(fonts)("ABCXYZabcxyz0189"):
        raise DataError(
            "no font has the Latin letters and digits of the bundled words",
            hint="add a Latin font, or pass a word list in the script of your fonts",
        )
    source = _Source(options.seed, options.split, tuple(fonts), words, options.style, options.lines)
    return _Material(source, tuple(refused), left_out)


def _example(word: WordPicture, index: int) -> bytes:
    return build_example(
        {
            "image/encoded": encode_jpeg(word.picture, word.look.camera.quality),
            "image/text": word.text.label,
            "image/path": f"{index:08d}_{Path(word.font).stem}",
        }
    )


def _drawable_by(fonts: list[Font]) -> Callable[[str], bool]:
    return lambda text: any(open_typeface(font.path, font.face).draws(text) for font in fonts)
