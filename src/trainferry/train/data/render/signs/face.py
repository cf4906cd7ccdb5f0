"""The face of a plate, seen from straight ahead: its lines set into a frame and painted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trainferry.train.data.render.signs.enamel import (
    Face,
    cut_out,
    draw_border,
    paint,
    wear,
    write_over,
)
from trainferry.train.data.render.signs.extras import (
    Extras,
    add_damage,
    add_header,
    add_shield,
    draw_extras,
)
from trainferry.train.data.render.signs.lettering import ABOVE, BELOW, Run, Setting, set_line
from trainferry.train.data.render.signs.schemes import draw_scheme
from trainferry.train.data.render.signs.street import without_accents
from trainferry.train.data.render.signs.variety import draw_hand
from trainferry.train.data.render.signs.wording import Line, Wording
from trainferry.train.data.render.words.dice import Dice
from trainferry.train.data.render.words.fonts import CAPITAL_HEIGHT, Mask, Typeface

WIDEST, HIGHEST = 300, 210
_FULL_LINE = 1 + ABOVE + BELOW
_CLEARANCE, _ACCENT = 0.14, 0.38
"""Room over a line without and with accents on its capitals, in its capital heights."""
_OFF_BORDER = 0.22


@dataclass(frozen=True)
class Plate:
    """A painted plate, and width and height of the smallest letters to be read, in its pixels."""

    face: Face
    letter: tuple[float, float]

    @cached_property
    def half(self) -> Face:
        """The face at half its size, as most views show it."""
        import cv2

        height, width = self.face.shape[:2]
        size = width // 2, height // 2
        half = cv2.resize(self.face, size, interpolation=cv2.INTER_AREA)
        return half.astype(np.uint8, copy=False)


@dataclass(frozen=True)
class Lettering:
    """What a plate is lettered with: a font for each line of the name, and one for the rest.

    `varied` letters differ from those of the font.
    """

    lines: tuple[Typeface, ...]
    other: Typeface
    style: str
    varied: bool


@dataclass(frozen=True)
class Layout:
    """Where lines stand; lengths in capital heights of the main line."""

    aspect: float
    squeeze: float
    gap: float
    top: float
    bottom: float
    side: float
    setting: Setting


@dataclass(frozen=True)
class _Placed:
    mask: Mask
    size: float
    middle: float
    baseline: float
    width: float


def draw_plate(wording: Wording, lettering: Lettering, dice: Dice) -> Plate:
    """Paint a plate with this wording."""
    scheme = draw_scheme(dice)
    extras = draw_extras(dice, lettering.other)
    layout = _draw_layout(dice, lettering)
    placed, width, height = _lay_out(wording, extras, lettering, layout, scheme.edge)
    scale = min(WIDEST / width, HIGHEST / height)
    size = 2 * round(width * scale / 2), 2 * round(height * scale / 2)  # halves are quick to make
    ink = np.zeros((size[1], size[0]), np.uint8)
    for line in placed:
        _put_line(ink, line, scale)
    head = extras.header.height * scale if extras.header and extras.header.separate else 0.0
    draw_border(ink, scheme, head)
    if extras.worn:
        ink = wear(ink, extras.worn, dice)
    face = paint(ink, scheme, dice)
    if extras.header:
        add_header(face, extras.header, scale, scheme)
    if extras.shield:
        add_shield(face, extras.shield, dice)
        write_over(face, ink, scheme.ink)  # arms hide no letters
    add_damage(face, extras, scheme, dice)
    return Plate(cut_out(face, scheme), _letter(wording, placed, scale))


def _letter(wording: Wording, placed: list[_Placed], scale: float) -> tuple[float, float]:
    read = [
        (each.width * scale / line.length, line.least * scale)
        for line, each in zip(wording.lines, placed, strict=False)
        if line.least
    ]
    return min(wide for wide, _ in read), min(high for _, high in read)


def _draw_layout(dice: Dice, lettering: Lettering) -> Layout:
    low, high = (0.72, 1.12) if lettering.style == "condensed" else (0.55, 1.0)
    if lettering.varied:
        low, high = low * 0.95, high * 1.25
    return Layout(
        aspect=min(2.5, max(1.1, 1.62 + dice.bell(0.28))),
        squeeze=dice.between(low, high),
        gap=dice.low_between(0.22, 0.85, 1.5),
        top=dice.between(0.35, 0.95),
        bottom=dice.between(0.4, 0.95),
        side=dice.low_between(0.3, 1.0, 1.5),
        setting=Setting(
            tracking=dice.between(-0.01, 0.06) if dice.chance(0.7) else dice.between(0.06, 0.2),
            weight=_draw_weight(dice, lettering),
            space=dice.between(0.24, 0.5),
            hand=draw_hand(dice) if lettering.varied else None,
        ),
    )


def _draw_weight(dice: Dice, lettering: Lettering) -> int:
    if lettering.varied:  # whose hand makes strokes thin
        return dice.whole(1, 3) if dice.chance(0.25) else 0
    return dice.pick((-1, 1, 1, 2, 3)) if dice.chance(0.4) else 0


def _lay_out(
    wording: Wording, extras: Extras, lettering: Lettering, layout: Layout, edge: float
) -> tuple[list[_Placed], float, float]:
    """Return the lines with their places, and width and height of the plate."""
    lines = list(wording.lines)
    foot = [Line((Run(text),), extras.foot_size) for text in extras.foot]
    typefaces = [*lettering.lines, *(lettering.other for _ in foot)]
    masks = [
        set_line(line.runs, typeface, layout.setting)
        for line, typeface in zip(lines + foot, typefaces, strict=True)
    ]
    sizes = [line.size for line in lines + foot]
    widths = [
        mask.shape[1] / CAPITAL_HEIGHT * size * layout.squeeze
        for mask, size in zip(masks, sizes, strict=True)
    ]
    head = extras.header.height if extras.header else 0.0
    gaps = [
        max(layout.gap * (0.6 if line.size < 0.8 else 1.0), line.size * _needed_above(line))
        for line in lines[1:] + foot
    ]
    inside = sum(sizes) + sum(gaps)
    # A border takes its part of the height, and letters keep off it.
    off = edge * (head + inside + layout.top + layout.bottom) / (1 - edge) + _OFF_BORDER
    top = max(layout.top, (0.0 if head else off) + lines[0].size * _needed_above(lines[0]))
    bottom = max(layout.bottom, off)
    height = head + top + inside + bottom
    longest = max(widths)
    side = max(layout.side, off) + (extras.shield.room if extras.shield else 0.0)
    width = max(height * layout.aspect, 0.6 * longest + 2 * side)
    free = width - 2 * side
    # Long lines are set narrower, as painters do it, and short plates grow before that is ugly.
    if longest > 1.35 * free:
        width = longest / 1.35 + 2 * side
        free = width - 2 * side
    more = width / 2.6 - height
    top += max(0.0, more / 2)
    height += max(0.0, more)
    middle = width / 2 + (extras.shield.room / 2 if extras.shield and extras.shield.moves else 0)
    placed = []
    pen = head + top
    for mask, size, line_width, gap in zip(masks, sizes, widths, [*gaps, 0.0], strict=True):
        pen += size
        placed.append(_Placed(mask, size, middle, pen, min(line_width, free)))
        pen += gap
    return placed, width, height


def _needed_above(line: Line) -> float:
    """Return the room over a line, in its own capital heights: accents want more of it."""
    accented = any(
        one.isupper() and one != without_accents(one) for run in line.runs for one in run.text
    )
    return _ACCENT if accented else _CLEARANCE


def _put_line(ink: Mask, line: _Placed, scale: float) -> None:
    import cv2

    width = max(1, round(line.width * scale))
    height = max(1, round(_FULL_LINE * line.size * scale))
    mask = cv2.resize(line.mask, (width, height), interpolation=cv2.INTER_AREA)
    left = round(line.middle * scale - width / 2)
    top = round((line.baseline - (1 + ABOVE) * line.size) * scale)
    rows = slice(max(0, top), min(ink.shape[0], top + height))
    columns = slice(max(0, left), min(ink.shape[1], left + width))
    part = mask[rows.start - top : rows.stop - top, columns.start - left : columns.stop - left]
    np.maximum(ink[rows, columns], part, out=ink[rows, columns])
