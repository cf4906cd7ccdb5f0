"""Lettering that no font has: a plate for training bends the letters of its font a little.

A hundred fonts are few, and a network learns them by heart. Where the waist of letters lies, how
thick and how round their strokes are, how they lean and how high accents sit differs from plate
to plate, so that each font stands for many.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trainferry.train.data.render.words.dice import Dice
from trainferry.train.data.render.words.fonts import Mask

_LEAST_INK, _MOST_INK = 0.65, 1.6
"""How much of its ink a line may lose or gain before its letters break or fill up."""
_HAIRLINE = 4
"""Strokes thinner than this would be lost in the blur: they stay."""
_HAIRLINE_SQUARE = np.ones((_HAIRLINE, _HAIRLINE), np.uint8)
_LEVELS = np.linspace(0, 1, 256, dtype=np.float32)


@dataclass(frozen=True)
class Hand:
    """How a painter's letters differ from those of a font; lengths in pixels of the mask."""

    waist: float = 1.0  # below 1 it moves up
    accent: float = 1.0  # height of accents over capitals
    slant: float = 0.0  # to the right, per pixel upwards
    soft_x: float = 0.0
    soft_y: float = 0.0
    level: float = 0.5  # strokes grow below a half, and shrink above
    edge: float = 0.3


def draw_hand(dice: Dice) -> Hand:
    soft = dice.low_between(0.5, 2.8, 1.4) if dice.chance(0.7) else 0.0
    flat = dice.between(0.45, 1.0) if dice.chance(0.4) else 1.0
    upright = dice.chance(0.5)
    return Hand(
        waist=1.0 + dice.bell(0.2) if dice.chance(0.65) else 1.0,
        accent=dice.between(0.6, 1.15) if dice.chance(0.5) else 1.0,
        slant=_draw_slant(dice) if dice.chance(0.3) else 0.0,
        soft_x=soft * (flat if upright else 1.0),
        soft_y=soft * (1.0 if upright else flat),
        level=min(0.62, max(0.2, 0.43 + dice.bell(0.12))),
        edge=dice.between(0.1, 0.35),
    )


def by_hand(line: Mask, hand: Hand, top: int, baseline: int) -> Mask:
    """Return the line as this hand writes it; capitals reach from `top` to `baseline`."""
    if hand.waist != 1.0 or hand.accent != 1.0:
        line = _moved_rows(line, hand, top, baseline)
    if hand.slant:
        line = _slanted(line, hand.slant, baseline)
    if hand.soft_x or hand.soft_y:
        line = _painted(line, hand)
    return line


def _draw_slant(dice: Dice) -> float:
    return dice.bell(0.05) if dice.chance(0.6) else dice.between(0.05, 0.24)


def _moved_rows(line: Mask, hand: Hand, top: int, baseline: int) -> Mask:
    """Take each row from higher or lower, so that bars and bows move along the letters."""
    rows = np.arange(line.shape[0], dtype=np.float32)
    inside = rows[top + 1 : baseline]
    inside[:] = top + ((inside - top) / (baseline - top)) ** hand.waist * (baseline - top)
    above = rows[: top + 1]
    above[:] = top - (top - above) / np.float32(hand.accent)
    # Accents may ask for rows over the first, where there is nothing but what the first has.
    return line.take(np.rint(rows).astype(np.intp), axis=0, mode="clip")


def _slanted(line: Mask, slant: float, baseline: int) -> Mask:
    import cv2

    height, width = line.shape
    right, left = slant * baseline, slant * (baseline - height)
    shift = -min(right, left, 0.0)
    matrix = np.array([[1, -slant, slant * baseline + shift], [0, 1, 0]], np.float64)
    size = width + round(max(right, left, 0.0) + shift) + 1, height
    return cv2.warpAffine(line, matrix, size, flags=cv2.INTER_LINEAR).astype(np.uint8, copy=False)


def _painted(line: Mask, hand: Hand) -> Mask:
    """Blur the letters and cut them out again: round corners, thicker or thinner strokes."""
    import cv2

    pad = round(hand.soft_x * 2)
    wide = cv2.copyMakeBorder(line, 0, 0, pad, pad, cv2.BORDER_CONSTANT)
    thick = cv2.morphologyEx(wide, cv2.MORPH_OPEN, _HAIRLINE_SQUARE)
    soft = cv2.GaussianBlur(wide, (0, 0), max(hand.soft_x, 0.3), sigmaY=max(hand.soft_y, 0.3))
    table = np.clip((_LEVELS - np.float32(hand.level)) / np.float32(hand.edge) + 0.5, 0, 1) * 255
    cut = cv2.max(cv2.LUT(soft, table.astype(np.uint8)), cv2.subtract(wide, thick))
    gained = cv2.sumElems(cut)[0] / max(cv2.sumElems(line)[0], 1.0)
    return np.asarray(cut, np.uint8) if _LEAST_INK < gained < _MOST_INK else line
