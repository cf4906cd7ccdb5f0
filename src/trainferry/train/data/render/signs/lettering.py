"""Lines of a plate: runs of letters of several sizes on one baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trainferry.train.data.render.signs.variety import Hand, by_hand
from trainferry.train.data.render.words.fonts import CAPITAL_HEIGHT, Mask, Typeface

ABOVE, BELOW = 0.42, 0.34
"""Room for accents over capitals and for tails below the baseline, in capital heights."""


_BASELINE = round((1 + ABOVE) * CAPITAL_HEIGHT)


@dataclass(frozen=True)
class Run:
    """Letters of one size; 1 is the height of the line's capitals."""

    text: str
    size: float = 1.0


@dataclass(frozen=True)
class Setting:
    """How letters are set; lengths in capital heights."""

    tracking: float = 0.0
    weight: int = 0
    space: float = 0.3
    hand: Hand | None = None


def set_line(runs: Sequence[Run], typeface: Typeface, setting: Setting) -> Mask:
    """Return the ink of a line, 0 to 255: as wide as its letters, as high as any line."""
    placed: list[tuple[int, int, Mask]] = []
    pen = 0.0
    before = ""
    for run in runs:
        for character in run.text:
            if character == " ":
                pen += setting.space * CAPITAL_HEIGHT * max(run.size, 0.6)
                before = ""
                continue
            glyph = typeface.glyph(character)
            if before and run.size == 1.0:
                pen += typeface.kerning(before + character)
            mask = glyph.mask if run.size == 1.0 else _scaled(glyph.mask, run.size)
            placed.append((round(pen + glyph.left * run.size), round(glyph.top * run.size), mask))
            pen += (glyph.advance + setting.tracking * CAPITAL_HEIGHT) * run.size
            before = character if run.size == 1.0 else ""
    line = _bolder(_stack(placed), setting.weight)
    if setting.hand is None:
        return line
    return by_hand(line, setting.hand, round(ABOVE * CAPITAL_HEIGHT), _BASELINE)


def can_write(runs: Sequence[Run], typeface: Typeface) -> bool:
    return all(typeface.draws(run.text.replace(" ", "")) for run in runs)


def _stack(placed: Sequence[tuple[int, int, Mask]]) -> Mask:
    height = _BASELINE + round(BELOW * CAPITAL_HEIGHT)
    left = min(x for x, _, _ in placed)
    width = max(x + mask.shape[1] for x, _, mask in placed) - left
    line = np.zeros((height, width), np.uint8)
    end = left
    for x, y, mask in placed:
        top = _BASELINE + y
        cut = max(0, -top)
        part = line[top + cut : top + mask.shape[0], x - left : x - left + mask.shape[1]]
        ink = mask[cut : cut + part.shape[0]]
        if x < end:
            np.maximum(part, ink, out=part)
        else:  # nothing is there yet
            part[:] = ink
        end = max(end, x + mask.shape[1])
    return line


def _bolder(line: Mask, weight: int) -> Mask:
    import cv2

    if not weight:
        return line
    size = abs(weight) + 1
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size))
    if weight > 0:
        padded = cv2.copyMakeBorder(line, 0, 0, size, size, cv2.BORDER_CONSTANT)
        return cv2.dilate(padded, kernel).astype(np.uint8, copy=False)
    thin = cv2.erode(line, kernel).astype(np.uint8, copy=False)
    return thin if thin.mean() > 0.6 * line.mean() else line


def _scaled(mask: Mask, size: float) -> Mask:
    import cv2

    height, width = mask.shape
    shape = (max(1, round(width * size)), max(1, round(height * size)))
    return cv2.resize(mask, shape, interpolation=cv2.INTER_AREA).astype(np.uint8, copy=False)
