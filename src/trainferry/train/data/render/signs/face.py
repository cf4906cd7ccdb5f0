"""The face of a plate, seen from straight ahead: its lines set into a frame and painted."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trainferry.train.data.render.signs.extras import (
    Extras,
    add_damage,
    add_header,
    add_shield,
    draw_extras,
)
from trainferry.train.data.render.signs.lettering import ABOVE, BELOW, Run, Setting, set_line
from trainferry.train.data.render.signs.schemes import Scheme, draw_scheme
from trainferry.train.data.render.signs.wording import Line, Wording
from trainferry.train.data.render.words.background import crop_texture
from trainferry.train.data.render.words.dice import Dice
from trainferry.train.data.render.words.fonts import CAPITAL_HEIGHT, Mask, Typeface

Face = npt.NDArray[np.uint8]
"""Height, width, 4: red, green, blue and how much of the background it covers."""

WIDEST, HIGHEST = 300, 210
_FULL_LINE = 1 + ABOVE + BELOW


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


def draw_face(wording: Wording, typeface: Typeface, style: str, dice: Dice) -> Face:
    """Paint a plate with this wording."""
    scheme = draw_scheme(dice)
    extras = draw_extras(dice, typeface)
    layout = _draw_layout(dice, style)
    placed, width, height = _lay_out(wording, extras, typeface, layout)
    scale = min(WIDEST / width, HIGHEST / height)
    size = round(width * scale), round(height * scale)
    ink = np.zeros((size[1], size[0]), np.uint8)
    for line in placed:
        _put_line(ink, line, scale)
    head = extras.header.height * scale if extras.header and extras.header.separate else 0.0
    _draw_border(ink, scheme, head)
    if extras.worn:
        ink = _worn(ink, extras.worn, dice)
    face = _paint(ink, scheme, dice)
    if extras.header:
        add_header(face, extras.header, scale, scheme)
    if extras.shield:
        add_shield(face, extras.shield, dice)
        _write_over(face, ink, scheme)
    add_damage(face, extras, scheme, dice)
    return _cut_out(face, scheme)


def _draw_layout(dice: Dice, style: str) -> Layout:
    condensed = style == "condensed"
    return Layout(
        aspect=min(2.5, max(1.1, 1.62 + dice.bell(0.28))),
        squeeze=dice.between(0.72, 1.12) if condensed else dice.between(0.55, 1.0),
        gap=dice.low_between(0.22, 0.85, 1.5),
        top=dice.between(0.35, 0.95),
        bottom=dice.between(0.4, 0.95),
        side=dice.low_between(0.3, 1.0, 1.5),
        setting=Setting(
            tracking=dice.between(-0.01, 0.06) if dice.chance(0.7) else dice.between(0.06, 0.2),
            weight=dice.pick((-1, 1, 1, 2, 3)) if dice.chance(0.4) else 0,
            space=dice.between(0.24, 0.5),
        ),
    )


def _lay_out(
    wording: Wording, extras: Extras, typeface: Typeface, layout: Layout
) -> tuple[list[_Placed], float, float]:
    """Return the lines with their places, and width and height of the plate."""
    lines = list(wording.lines)
    foot = [Line((Run(text),), extras.foot_size) for text in extras.foot]
    masks = [set_line(line.runs, typeface, layout.setting) for line in lines + foot]
    sizes = [line.size for line in lines + foot]
    widths = [
        mask.shape[1] / CAPITAL_HEIGHT * size * layout.squeeze
        for mask, size in zip(masks, sizes, strict=True)
    ]
    head = extras.header.height if extras.header else 0.0
    gaps = [layout.gap * (0.6 if size < 0.8 else 1.0) for size in sizes[1:]]
    height = head + layout.top + sum(sizes) + sum(gaps) + layout.bottom
    longest = max(widths)
    side = layout.side + (extras.shield.room if extras.shield else 0.0)
    width = max(height * layout.aspect, 0.6 * longest + 2 * side)
    free = width - 2 * side
    # Long lines are set narrower, as painters do it, and short plates grow before that is ugly.
    if longest > 1.35 * free:
        width = longest / 1.35 + 2 * side
        free = width - 2 * side
    more = width / 2.6 - height
    top = layout.top + max(0.0, more / 2)
    height += max(0.0, more)
    middle = width / 2 + (extras.shield.room / 2 if extras.shield and extras.shield.moves else 0)
    placed = []
    pen = head + top
    for mask, size, line_width, gap in zip(masks, sizes, widths, [*gaps, 0.0], strict=True):
        pen += size
        placed.append(_Placed(mask, size, middle, pen, min(line_width, free)))
        pen += gap
    return placed, width, height


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


def _draw_border(ink: Mask, scheme: Scheme, head: float) -> None:
    import cv2

    if scheme.border in ("none", "frame"):
        return
    height, width = ink.shape
    inset = scheme.inset * height
    thick = max(1, round(scheme.border_width * height))
    reach = max(scheme.corner * height, 0.06 * height)
    top = head + inset * 0.6 if head else inset
    points = outline(width, height, inset, reach, scheme.border, top)
    cv2.polylines(ink, [points], True, 255, thick, cv2.LINE_AA, 3)
    if scheme.border == "double":
        points = outline(width, height, inset * 0.3, reach, "line", top * 0.3)
        cv2.polylines(ink, [points], True, 255, max(1, thick // 2), cv2.LINE_AA, 3)


def outline(
    width: float, height: float, inset: float, reach: float, border: str, top: float | None = None
) -> npt.NDArray[np.int32]:
    """Return a rectangle with rounded, hollow or cut corners, in eighths of a pixel."""
    upper = inset if top is None else top
    left, right, bottom = inset, width - 1 - inset, height - 1 - inset
    reach = max(0.0, min(reach, (right - left) / 2, (bottom - upper) / 2))
    points: list[tuple[float, float]] = []
    corners = (
        (left, upper, 1, 1),
        (right, upper, -1, 1),
        (right, bottom, -1, -1),
        (left, bottom, 1, -1),
    )
    for number, (x, y, across, down) in enumerate(corners):
        arc = _arc(x, y, across * reach, down * reach, border)
        points += arc if number % 2 == 0 else arc[::-1]
    return np.round(np.array(points) * 8).astype(np.int32)


def _arc(x: float, y: float, across: float, down: float, border: str) -> list[tuple[float, float]]:
    """Return a corner from its side to its top or bottom."""
    if border == "cut":
        return [(x, y + down), (x + across, y)]
    steps = [math.pi / 2 * step / 4 for step in range(5)]
    if border == "notched":
        return [(x + across * math.sin(a), y + down * math.cos(a)) for a in steps]
    return [(x + across * (1 - math.cos(a)), y + down * (1 - math.sin(a))) for a in steps]


def _worn(ink: Mask, strength: float, dice: Dice) -> Mask:
    """Take paint off the letters in patches."""
    texture = crop_texture("cloud", ink.shape[1::-1], dice.between(0.5, 2.0), dice)
    left = np.clip((texture + np.float32(1.3 - strength)) * 3, 0, 1)
    return (ink * left).astype(np.uint8)


def _paint(ink: Mask, scheme: Scheme, dice: Dice) -> npt.NDArray[np.float32]:
    import cv2

    # Painting is a table from ink to colour, many times faster than the sum it stands for.
    share = np.linspace(0, 1, 256, dtype=np.float32)[:, None]
    ground = np.asarray(scheme.ground, np.float32)
    table = ground + (np.asarray(scheme.ink, np.float32) - ground) * share
    face = cv2.LUT(cv2.merge((ink, ink, ink)), table[None]).astype(np.float32, copy=False)
    if scheme.engraved:
        edge = ink.astype(np.float32)
        face[1:, 1:] += ((edge[1:, 1:] - edge[:-1, :-1]) * np.float32(0.25))[..., None]
    if scheme.border == "frame":
        _draw_frame(face, scheme, dice)
    return face


def _write_over(face: npt.NDArray[np.float32], ink: Mask, scheme: Scheme) -> None:
    """Bring back letters over which arms were painted."""
    share = ink[..., None] * np.float32(1 / 255)
    face += (np.asarray(scheme.ink, np.float32) - face) * share


def _draw_frame(face: npt.NDArray[np.float32], scheme: Scheme, dice: Dice) -> None:
    import cv2

    height, width = face.shape[:2]
    wide = max(4, round(height * dice.between(0.05, 0.08)))
    points = outline(width, height, wide / 2, 0, "line")
    cv2.polylines(face, [points], True, scheme.frame, wide, cv2.LINE_AA, 3)
    points = outline(width, height, wide, 0, "line")
    cv2.polylines(face, [points], True, (20, 25, 30), max(1, wide // 5), cv2.LINE_AA, 3)


def _cut_out(face: npt.NDArray[np.float32], scheme: Scheme) -> Face:
    import cv2

    height, width = face.shape[:2]
    points = outline(width, height, 0, scheme.corner * height, "line")
    if scheme.rim is not None:
        cv2.polylines(face, [points], True, scheme.rim, max(3, height // 28), cv2.LINE_AA, 3)
    out = np.zeros((height, width, 4), np.uint8)
    out[..., :3] = np.clip(face, 0, 255)
    cover = np.zeros((height, width), np.uint8)
    cv2.fillPoly(cover, [points], 255, cv2.LINE_AA, 3)
    out[..., 3] = cover
    return out
