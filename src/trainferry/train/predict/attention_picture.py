"""Where a network looked for each character of a sign, as a picture.

On top are all views with every place that was looked at; below, one card for each character:
the views in the dark, and lit where the network looked for it.

Shapes: L characters, V views of H W pixels, h w places of a view's map.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from trainferry.errors import DataError
from trainferry.train.data.pictures import Picture
from trainferry.train.data.render.picture_text import fit_text, font_for
from trainferry.train.data.whole_file import write_whole
from trainferry.train.predict.reader import Reader
from trainferry.train.tasks.spell import read_signs

_WIDTH = 560  # of all views on a card
_MARGIN, _GAP = 28, 16  # around all cards, and between them
_INSET = 10  # from the edge of a card to what is on it
_LETTER = 76  # room for a character, left of its views
_TITLE, _GLYPH, _SMALL = 40, 42, 18  # sizes of letters
_TWO_COLUMNS, _THREE_COLUMNS = 6, 24  # more characters than this

_PAGE, _WHITE, _EDGE = "#e9edf2", "#ffffff", "#d5dbe3"
_INK, _FAINT, _UNSURE = "#1d2733", "#6b7684", "#c62828"
_DARK = np.array([16, 20, 30], np.float32)
_GLOW = np.array([255, 120, 0], np.float32)
_HOT = np.array([255, 222, 89], np.float32)
_LIGHTEST, _MOST_GAIN = 225, 2.5
_SPACE = "space"

# The parts of an Inception-v3 tower that shrink a map, by their strides; each sees three places.
_STRIDES = (2, 1, 2, 1, 2, 2, 2)

Values = NDArray[np.float32]


@dataclass(frozen=True)
class Looked:
    """A sign as the network saw it, what it read, and where it looked for each character.

    `picture` has the views side by side; `shares`, L V h w, may go on behind the text.
    """

    picture: Picture
    text: str
    scores: tuple[float, ...]
    confidence: float
    shares: Values

    def __post_init__(self) -> None:
        length = len(self.text)
        if self.shares.ndim != 4 or len(self.shares) < length or len(self.scores) != length:
            raise DataError(
                f"{length} characters, {len(self.scores)} scores and attention of the shape "
                f"{self.shares.shape}",
                hint="give attention as the network tells it, and a score for each character",
            )


def look_at(reader: Reader, path: Path) -> Looked:
    """Ask a network that reads signs about one of them, and where it looks meanwhile."""
    if reader.look is None:
        raise DataError(
            f"{reader.name} does not tell where it looks",
            hint="give a run that reads signs, or a file exported from one",
        )
    _, picture = reader.load(path)
    logits, shares = reader.look(picture[None])
    (reading,) = read_signs(logits, reader.signs.characters)
    return Looked(picture, reading.text, reading.character_scores, reading.confidence, shares[0])


def attention_picture(looked: Looked, path: Path) -> None:
    """Write the picture as a PNG."""
    target = io.BytesIO()
    Image.fromarray(draw_attention(looked)).save(target, "PNG")
    write_whole(path, target.getvalue())


def draw_attention(looked: Looked) -> Picture:
    """Return the picture as RGB values."""
    cards = list(_draw_cards(looked))
    columns = 1 + (len(cards) > _TWO_COLUMNS) + (len(cards) > _THREE_COLUMNS)
    card_width = _LETTER + _WIDTH + 2 * _INSET
    width = columns * card_width + (columns - 1) * _GAP
    summary = _draw_summary(looked, width)
    rows = -(-len(cards) // columns)
    step = cards[0].height + _GAP if cards else 0
    page = Image.new(
        "RGB", (width + 2 * _MARGIN, summary.height + rows * step + 2 * _MARGIN), _PAGE
    )
    page.paste(summary, (_MARGIN, _MARGIN))
    for number, card in enumerate(cards):
        left = _MARGIN + number % columns * (card_width + _GAP)
        page.paste(card, (left, _MARGIN + summary.height + _GAP + number // columns * step))
    return np.array(page)


def light(shares: Values, height: int, width: int) -> Values:
    """Spread the shares of the places of views, V h w, over their pixels side by side: H V*W.

    The brightest pixel is 1. A place lies where the middle of what it sees is.
    """
    rows = _weights(shares.shape[1], height)  # H h
    columns = _weights(shares.shape[2], width)  # W w
    spread = np.einsum("Hh,vhw,Ww->HvW", rows, shares, columns, optimize=True)
    spread = spread.reshape(height, -1)
    return np.asarray(spread / max(float(spread.max()), 1e-12), np.float32)


def _weights(places: int, pixels: int) -> Values:
    """How much of each place is in each pixel: a bell around its middle, pixels x places."""
    first, step = _middles(places, pixels)
    middles = first + step * np.arange(places, dtype=np.float32)
    distances = (np.arange(pixels, dtype=np.float32)[:, None] - middles) / (0.75 * step)
    return np.exp(-0.5 * distances**2)


def _middles(places: int, pixels: int) -> tuple[float, float]:
    """Return the pixel in the middle of the first place, and how far the next is from it.

    Windows lose pixels at the borders, so that the outer places lie further inside than if
    they divided the picture among them; that is only done for a map of unknown origin.
    """
    size, first, step = pixels, 0, 1
    for stride in _STRIDES:
        size, first, step = (size - 3) // stride + 1, first + step, step * stride
        if size == places:
            return first, step
    return pixels / places / 2 - 0.5, pixels / places


def _draw_summary(looked: Looked, width: int) -> Image.Image:
    """Draw the text, and the views lit where they were looked at for any character."""
    length, views = len(looked.text), looked.shares.shape[1]
    inner = width - 2 * _INSET
    lights = [_light_of(looked, number) for number in range(length)]
    brightest = np.max(lights, axis=0) if lights else np.zeros(looked.picture.shape[:2], np.float32)
    strip = _lit(_brightened(looked.picture, views), brightest, darkness=0.3)
    height = round(inner * strip.shape[0] / strip.shape[1])
    card = _blank(width, height + _TITLE + _SMALL + 60)
    pen = ImageDraw.Draw(card)
    base = _INSET + _TITLE + 4
    sure = f"{looked.confidence:.0%}"
    pen.text((width - 2 * _INSET, base), sure, _FAINT, font_for(sure, _SMALL + 6), anchor="rs")
    title = looked.text or "(nothing)"
    shown = fit_text(title, _TITLE, inner - 100)
    colour = _INK if looked.text else _FAINT
    pen.text((2 * _INSET, base), shown, colour, font_for(title, _TITLE), anchor="ls")
    top = base + 18
    _paste(card, strip, (_INSET, top), (inner, height))
    _part_views(card, views, (_INSET, top), (inner, height))
    for view, share in enumerate(_shares_of_views(looked)):
        middle = _INSET + round(inner * (view + 0.5) / views)
        label = f"view {view + 1}: {share:.0%}" if length else f"view {view + 1}"
        place = (middle, top + height + _SMALL + 6)
        pen.text(place, label, _FAINT, font_for(label, _SMALL), anchor="ms")
    return card


def _draw_cards(looked: Looked) -> Iterator[Image.Image]:
    height = round(_WIDTH * looked.picture.shape[0] / looked.picture.shape[1])
    views = looked.shares.shape[1]
    picture = _brightened(looked.picture, views)
    for number, (character, score) in enumerate(zip(looked.text, looked.scores, strict=True)):
        card = _blank(_LETTER + _WIDTH + 2 * _INSET, height + 2 * _INSET)
        strip = _lit(picture, _light_of(looked, number))
        _paste(card, strip, (_INSET + _LETTER, _INSET), (_WIDTH, height))
        _part_views(card, views, (_INSET + _LETTER, _INSET), (_WIDTH, height))
        pen = ImageDraw.Draw(card)
        middle, centre = (_INSET + _LETTER) // 2, card.height // 2
        if character.isspace():
            pen.text((middle, centre), _SPACE, _FAINT, font_for(_SPACE, _SMALL), anchor="ms")
        else:
            shown, font = fit_text(character, _GLYPH, _LETTER), font_for(character, _GLYPH)
            pen.text((middle, centre + 8), shown, _INK, font, anchor="ms")
        sure = f"{score:.0%}"
        colour = _FAINT if score >= 0.5 else _UNSURE
        place = (middle, centre + 8 + _SMALL + 10)
        pen.text(place, sure, colour, font_for(sure, _SMALL), anchor="ms")
        yield card


def _light_of(looked: Looked, number: int) -> Values:
    height, width = looked.picture.shape[:2]
    return light(looked.shares[number], height, width // looked.shares.shape[1])


def _lit(picture: Picture, brightness: Values, darkness: float = 0.62) -> Picture:
    """Darken a picture where it is not lit, and let what is lit glow."""
    bright = brightness[..., None]
    values = picture.astype(np.float32)
    grey = values.mean(2, keepdims=True)
    dark = (1 - darkness) * (0.3 * values + 0.7 * grey) + darkness * _DARK
    shown = dark + (values - dark) * np.sqrt(bright)
    glow = _GLOW + (_HOT - _GLOW) * bright
    shown += (glow - shown) * 0.55 * bright
    return np.rint(shown.clip(0, 255)).astype(np.uint8)


def _brightened(picture: Picture, views: int) -> Picture:
    """Let dark views be seen too: the lightest parts of each become light."""
    parts = []
    for view in np.split(picture, views, axis=1):
        lightest = max(float(np.percentile(view.mean(2), 97)), 1.0)
        gain = min(max(_LIGHTEST / lightest, 1.0), _MOST_GAIN)
        parts.append(np.minimum(view.astype(np.float32) * gain, 255))
    return np.rint(np.concatenate(parts, axis=1)).astype(np.uint8)


def _shares_of_views(looked: Looked) -> list[float]:
    """Return how much of all looks went to each view."""
    of_views = looked.shares[: len(looked.text)].sum((0, 2, 3))
    return [float(share) for share in of_views / max(float(of_views.sum()), 1e-12)]


def _blank(width: int, height: int) -> Image.Image:
    card = Image.new("RGB", (width, height), _PAGE)
    box = (0, 0, width - 1, height - 1)
    ImageDraw.Draw(card).rounded_rectangle(box, 8, _WHITE, _EDGE, 1)
    return card


def _paste(
    card: Image.Image, picture: Picture, place: tuple[int, int], size: tuple[int, int]
) -> None:
    card.paste(Image.fromarray(picture).resize(size, Image.Resampling.BICUBIC), place)


def _part_views(
    card: Image.Image, views: int, place: tuple[int, int], size: tuple[int, int]
) -> None:
    """Leave a gap between views."""
    pen = ImageDraw.Draw(card)
    for view in range(1, views):
        x = place[0] + round(size[0] * view / views)
        pen.line((x, place[1], x, place[1] + size[1] - 1), _WHITE, 4)
