"""Render a data set of street-name signs on all cores and write it as FSNS records."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path

from trainferry.errors import DataError
from trainferry.train.data.pictures import decode_picture, encode_jpeg, encode_png
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
from trainferry.train.data.render.signs.compose import Composer, Sign
from trainferry.train.data.render.signs.fonts import plate_fonts, split_fonts
from trainferry.train.data.render.signs.sheet import sign_sheet
from trainferry.train.data.render.signs.street import Street
from trainferry.train.data.render.signs.streets import SPLITS, Streets, read_streets
from trainferry.train.data.render.words.fonts import Font, Refusal, find_fonts
from trainferry.train.data.signs.charset import fsns_charset, write_charset
from trainferry.train.data.signs.example import build_sign

QUALITY = 90

_RENDERER = "the sign renderer"


@dataclass(frozen=True)
class SignsOptions:
    """What to render. The samples depend on seed, split, fonts, names and `png` only."""

    count: int
    seed: int = 0
    split: str = "train"
    fonts: Path | None = None
    names: Path | None = None
    png: bool = False
    processes: int = 1
    shard: int = 1_000


@dataclass(frozen=True, kw_only=True)
class SignsReport(RenderReport):
    """What was rendered, and what of the user's fonts and names was not used."""

    left_out_names: dict[str, int]

    def summary(self) -> str:
        return summarise_set(self, "sign", "names", self.left_out_names)


def render_signs(options: SignsOptions, folder: Path, progress: Progress) -> SignsReport:
    """Write `<folder>/tfrecords/{split}_{number}.tfrecords`, the charset and `dataset.json`."""
    started = time.monotonic()
    _check(options, folder)
    material = _read_material(options)
    shards = plan_shards(folder, options.split, options.count, options.shard)
    counts = render_shards(material.source, shards, options.processes, progress)
    write_charset(fsns_charset(), folder)
    report = SignsReport(
        count=options.count,
        files=tuple(shard.path for shard in shards),
        fonts=len(material.source.fonts),
        refused_fonts=material.refused,
        left_out_names=material.left_out,
        seconds=time.monotonic() - started,
    )
    describe_set(
        folder,
        asdict(options),
        report,
        made_by="trainferry data signs",
        left_out=("left_out_names", report.left_out_names),
        per_font=("signs_per_font", counts),
    )
    return report


def render_samples(options: SignsOptions) -> list[Sign]:
    """Return the first `count` samples of the data set, to look at."""
    require_opencv(_RENDERER)
    composer = _read_material(options).source.composer()
    return [composer.compose(index) for index in range(options.count)]


def write_check_sheet(options: SignsOptions, path: Path) -> None:
    """Write the first `count` samples, as stored, on one page."""
    samples = render_samples(options)
    stored = [decode_picture(_encode(sign, options.png)) for sign in samples]
    sign_sheet(stored, [sign.text for sign in samples], path)


@dataclass(frozen=True)
class _Source:
    """All that a process needs to draw any sample of the data set."""

    seed: int
    split: str
    fonts: tuple[Font, ...]
    streets: tuple[Street, ...]
    png: bool

    def composer(self) -> Composer:
        return Composer(self.seed, self.split, Streets(self.split, self.streets), self.fonts)

    def drawing(self) -> Draw:
        composer, charset = self.composer(), fsns_charset()

        def draw(index: int) -> Drawn:
            sign = composer.compose(index)
            picture = _encode(sign, self.png)
            return Drawn(build_sign(picture, sign.text, charset, sign.present), sign.font)

        return draw


@dataclass(frozen=True)
class _Material:
    source: _Source
    refused: tuple[Refusal, ...]
    left_out: dict[str, int]


def _encode(sign: Sign, png: bool) -> bytes:
    return encode_png(sign.picture) if png else encode_jpeg(sign.picture, QUALITY)


def _check(options: SignsOptions, folder: Path) -> None:
    require_numbers(options.count, options.shard, options.seed, "sign")
    if options.split not in SPLITS:
        raise DataError(
            f"there is no split `{options.split}` of names and fonts",
            hint=f"choose one of {', '.join(SPLITS)}",
        )
    require_new_split(folder, options.split)
    require_opencv(_RENDERER)


def _read_material(options: SignsOptions) -> _Material:
    refused: list[Refusal] = []
    if options.fonts is None:
        fonts = plate_fonts(options.split)
    else:
        found, refused = find_fonts(options.fonts)
        fonts = split_fonts(found, options.split)
    streets: tuple[Street, ...] = ()
    left_out: dict[str, int] = {}
    if options.names is not None:
        read = read_streets(options.names, fsns_charset())
        streets, left_out = read.streets, read.left_out
    source = _Source(options.seed, options.split, tuple(fonts), streets, options.png)
    source.composer()  # tells at once when no name is left for the split
    return _Material(source, tuple(refused), left_out)
