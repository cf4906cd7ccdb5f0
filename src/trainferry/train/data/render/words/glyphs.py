"""One line of text as a mask: letters set side by side on a baseline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trainferry.train.data.render.words.dice import Dice
from trainferry.train.data.render.words.fonts import CAPITAL_HEIGHT, Glyph, Mask, Typeface


@dataclass(frozen=True)
class Letters:
    """How letters are set; lengths in capital heights, angles in degrees."""

    tracking: float = 0.0
    rise: float = 0.0
    turn: float = 0.0
    weight: int = 0
    small_capitals: float = 1.0


def draw_line(text: str, typeface: Typeface, letters: Letters, dice: Dice) -> Mask:
    """Return the ink of the text, 0 to 255, cut to its box."""
    placed = _place(text, typeface, letters, dice)
    left = min(x for x, _, _ in placed)
    top = min(y for _, y, _ in placed)
    right = max(x + mask.shape[1] for x, _, mask in placed)
    bottom = max(y + mask.shape[0] for _, y, mask in placed)
    line = np.zeros((bottom - top, right - left), np.uint8)
    for x, y, mask in placed:
        part = line[y - top : y - top + mask.shape[0], x - left : x - left + mask.shape[1]]
        np.maximum(part, mask, out=part)
    return _weighted(line, letters.weight) if letters.weight else line


def _place(
    text: str, typeface: Typeface, letters: Letters, dice: Dice
) -> list[tuple[int, int, Mask]]:
    placed = []
    pen = 0.0
    before = ""
    rise, turn = letters.rise * CAPITAL_HEIGHT, letters.turn
    for place, character in enumerate(text):
        glyph = typeface.glyph(character)
        if letters.small_capitals != 1.0 and place:
            glyph = _scaled(glyph, letters.small_capitals)
        elif before:
            pen += typeface.kerning(before + character)
        up = dice.bell(rise) if rise else 0.0
        mask = _turned(glyph.mask, dice.bell(turn)) if turn else glyph.mask
        placed.append((round(pen + glyph.left), round(glyph.top + up), mask))
        pen += glyph.advance + letters.tracking * CAPITAL_HEIGHT
        before = character
    return placed


def _scaled(glyph: Glyph, scale: float) -> Glyph:
    import cv2

    height, width = glyph.mask.shape
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    mask = cv2.resize(glyph.mask, size, interpolation=cv2.INTER_AREA)
    left, top = round(glyph.left * scale), round(glyph.top * scale)
    return Glyph(mask.astype(np.uint8, copy=False), left, top, glyph.advance * scale)


def _turned(mask: Mask, degrees: float) -> Mask:
    import cv2

    height, width = mask.shape
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1.0)
    return cv2.warpAffine(mask, matrix, (width, height)).astype(np.uint8, copy=False)


def _weighted(line: Mask, weight: int) -> Mask:
    """Make strokes bolder, or thinner where enough of them would be left."""
    import cv2

    if weight > 0:
        size = weight + 1
        kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size))
        padded = cv2.copyMakeBorder(line, size, size, size, size, cv2.BORDER_CONSTANT)
        return cv2.dilate(padded, kernel).astype(np.uint8, copy=False)
    thin = cv2.erode(line, np.ones((1 - weight, 1 - weight), np.uint8)).astype(np.uint8, copy=False)
    return thin if thin.mean() > 0.55 * line.mean() else line
