"""A grid of pictures on white cards, with what was read in each, or what it shows, below it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from trainferry.errors import DataError
from trainferry.train.build import OpenRun
from trainferry.train.data.batches import Source
from trainferry.train.data.pictures import Picture
from trainferry.train.data.render.picture_text import drawable, fit_text, font_for
from trainferry.train.data.whole_file import write_whole
from trainferry.train.predict.answers import plain_decoding
from trainferry.train.predict.reader import first_samples, run_reader

COLUMNS = 5

_SHARPER = 2  # pixels per unit of the sizes below, so that text stays crisp when zoomed
_WIDTH = 200  # of the picture
_HEIGHT, _TALL_HEIGHT = 64, 150  # of pictures of words, and of others
_MARGIN = 18  # around the cards and between them
_INSET = 12  # from the edge of a card to what is on it
_LINE = 30
_SECOND_LINE = 20
_CARD_WIDTH = _WIDTH + 2 * _INSET

_PAGE, _WHITE, _EDGE, _BED = "#e9edf2", "#ffffff", "#d5dbe3", "#f1f3f6"
_INK, _FAINT, _RIGHT, _WRONG = "#1d2733", "#6b7684", "#12813f", "#c62828"


@dataclass(frozen=True)
class Caption:
    """What was read; with the truth it is green or red, without it black."""

    read: str
    truth: str | None = None
    confidence: float | None = None

    @property
    def colour(self) -> str:
        if self.truth is None:
            return _INK
        return _RIGHT if self.read == self.truth else _WRONG

    @property
    def is_wrong(self) -> bool:
        return self.truth is not None and self.read != self.truth


def picture_grid(
    pictures: Sequence[Picture],
    captions: Sequence[Caption],
    path: Path,
    *,
    columns: int = COLUMNS,
) -> None:
    """Write the grid as a PNG."""
    target = io.BytesIO()
    Image.fromarray(draw_grid(pictures, captions, columns=columns)).save(target, "PNG")
    write_whole(path, target.getvalue())


def draw_grid(
    pictures: Sequence[Picture], captions: Sequence[Caption], *, columns: int = COLUMNS
) -> Picture:
    """Return the grid as RGB values; pictures keep their proportions."""
    if not pictures or len(pictures) != len(captions) or columns < 1:
        raise DataError(
            f"{len(pictures)} pictures and {len(captions)} captions in {columns} columns",
            hint="a grid needs one caption per picture, and at least one picture",
        )
    columns = min(columns, len(pictures))
    rows = -(-len(pictures) // columns)
    bed = _bed_height(pictures)
    card = _card_height(captions, bed)
    page = Image.new(
        "RGB",
        (
            _SHARPER * (columns * (_CARD_WIDTH + _MARGIN) + _MARGIN),
            _SHARPER * (rows * (card + _MARGIN) + _MARGIN),
        ),
        _PAGE,
    )
    for number, (picture, caption) in enumerate(zip(pictures, captions, strict=True)):
        left = _SHARPER * (_MARGIN + number % columns * (_CARD_WIDTH + _MARGIN))
        top = _SHARPER * (_MARGIN + number // columns * (card + _MARGIN))
        page.paste(_draw_card(picture, caption, card, bed), (left, top))
    return np.array(page)


def draw_readings(opened: OpenRun, source: Source, count: int, path: Path) -> list[Caption]:
    """Draw the first `count` samples of a source as a run reads them; return their captions."""
    pictures, truths, _ = first_samples(source, count)
    reader = run_reader(opened)
    answers = plain_decoding(reader)(reader.logits(np.stack(pictures)))
    captions = [
        Caption(answer.text, truth, answer.confidence)
        for answer, truth in zip(answers, truths, strict=True)
    ]
    picture_grid(pictures, captions, path)
    return captions


def shrink_to_card(picture: Picture) -> Picture:
    """Return the picture no larger than a card shows it: many of these fit into memory."""
    image = Image.fromarray(np.ascontiguousarray(picture))
    image.thumbnail((_SHARPER * _WIDTH, _SHARPER * _TALL_HEIGHT), Image.Resampling.BICUBIC)
    return np.array(image)


def _bed_height(pictures: Sequence[Picture]) -> int:
    """Lines of text are much wider than high; where most pictures are not, cards are taller."""
    tall = sum(picture.shape[1] < 2 * picture.shape[0] for picture in pictures)
    return _TALL_HEIGHT if 2 * tall > len(pictures) else _HEIGHT


def _card_height(captions: Sequence[Caption], bed: int) -> int:
    second = _SECOND_LINE if any(caption.is_wrong for caption in captions) else 0
    return bed + _LINE + second + 2 * _INSET


def _draw_card(picture: Picture, caption: Caption, height: int, bed: int) -> Image.Image:
    card = Image.new("RGB", (_SHARPER * _CARD_WIDTH, _SHARPER * height), _PAGE)
    pen = ImageDraw.Draw(card)
    pen.rounded_rectangle(
        (0, 0, card.width - 1, card.height - 1), 8 * _SHARPER, _WHITE, _EDGE, _SHARPER
    )
    _place_picture(card, pen, picture, bed)
    base = _SHARPER * (_INSET + bed + 23)
    left, right = _SHARPER * _INSET, _SHARPER * (_INSET + _WIDTH)
    if caption.confidence is not None:
        share = f"{caption.confidence:.0%}"
        font = font_for("0%", _SHARPER * 13)
        pen.text((right, base), share, _FAINT, font, anchor="rs")
        right -= int(font.getlength(share)) + 8 * _SHARPER
    colour = caption.colour if caption.read else _faded(caption)
    _write(pen, caption.read or "(nothing)", (left, base), right - left, 20, colour)
    if caption.is_wrong:
        below = base + _SHARPER * _SECOND_LINE
        _write(pen, f"is {caption.truth}", (left, below), _SHARPER * _WIDTH, 14, _FAINT)
    return card


def _faded(caption: Caption) -> str:
    return _FAINT if caption.truth is None else caption.colour


def _place_picture(card: Image.Image, pen: ImageDraw.ImageDraw, picture: Picture, bed: int) -> None:
    left, top = _SHARPER * _INSET, _SHARPER * _INSET
    width, height = _SHARPER * _WIDTH, _SHARPER * bed
    pen.rectangle((left, top, left + width - 1, top + height - 1), _BED)
    scale = min(width / picture.shape[1], height / picture.shape[0])
    size = (max(round(picture.shape[1] * scale), 1), max(round(picture.shape[0] * scale), 1))
    fitted = Image.fromarray(np.ascontiguousarray(picture)).resize(size, Image.Resampling.BICUBIC)
    card.paste(fitted, (left + (width - size[0]) // 2, top + (height - size[1]) // 2))


def _write(
    pen: ImageDraw.ImageDraw,
    text: str,
    place: tuple[int, int],
    width: int,
    size: int,
    colour: str,
) -> None:
    """Write in the largest size that fits, then cut the end off."""
    text = drawable(text)
    while font_for(text, _SHARPER * size).getlength(text) > width and size > 11:
        size -= 1
    pixels = _SHARPER * size
    pen.text(place, fit_text(text, pixels, width), colour, font_for(text, pixels), anchor="ls")
