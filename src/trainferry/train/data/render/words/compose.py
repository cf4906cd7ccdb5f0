"""One word picture, from its seed to pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal

import numpy as np

from trainferry.errors import DataError
from trainferry.train.data.render.words.background import crop_texture, draw_ground
from trainferry.train.data.render.words.camera import Picture, take_picture
from trainferry.train.data.render.words.colours import any_colour, difference
from trainferry.train.data.render.words.dice import Dice
from trainferry.train.data.render.words.fonts import Font, Mask, Typeface, open_typeface
from trainferry.train.data.render.words.glyphs import draw_line
from trainferry.train.data.render.words.lexicon import Lexicon, Lines, Text
from trainferry.train.data.render.words.look import Look, clearer, draw_look, draw_plain_look
from trainferry.train.data.render.words.paint import Canvas, Colour, build_layers, lay_on
from trainferry.train.data.render.words.warp import (
    Box,
    Layers,
    Matrix,
    bend_layers,
    crop_matrix,
    level,
    move_points,
    text_matrix,
    warp_layers,
)

Style = Literal["street", "plain"]
"""Words as photographs show them, or easy ones for a first try."""

WIDEST = 320
WIDEST_LINE = 1280
"""Lines of Chinese are that wide: made narrower, they would lose height, which readers do not."""

LEAST_CONTRAST = 19.0
"""Letters and their surroundings differ at least so much in a finished picture without noise."""

_TEXT_HEIGHT = 26
_FAINTEST = 90
_PLAIN_FONTS = {"sans", "serif", "slab", "user"}
_AROUND = np.ones((5, 5), np.uint8)

_TRIES = 2
_TEXT_TRIES = 200
_FONT_TRIES = 20


@dataclass(frozen=True)
class WordPicture:
    """A finished picture with its label and with what was decided for it."""

    picture: Picture
    text: Text
    font: str
    look: Look
    contrast: float


class Composer:
    """Draws the picture number `index` of a split: the same for the same seed, whoever asks."""

    def __init__(
        self,
        seed: int,
        split: str,
        lexicon: Lexicon | Lines,
        fonts: Sequence[Font],
        style: Style = "street",
    ) -> None:
        self._seed = seed
        self._split = split
        self._lexicon = lexicon
        self._fonts = [font for font in fonts if style == "street" or font.style in _PLAIN_FONTS]
        self._style = style
        self._whole_lines = isinstance(lexicon, Lines)
        self._sums = list(accumulate(font.weight for font in self._fonts))

    def compose(self, index: int) -> WordPicture:
        dice = Dice(self._seed, self._split, index)
        text, font, typeface = self._choose(dice)
        if self._style == "plain":
            look = draw_plain_look(dice)
        else:
            look = draw_look(dice, len(text.drawn), font.style)
        flat, box = self._write(text.drawn, typeface, look, dice)
        widest = WIDEST
        if self._whole_lines:
            widest, look = WIDEST_LINE, replace(look, warp=level(look.warp, box))
        for _ in range(_TRIES):
            picture, contrast = _render(flat, box, look, widest, dice)
            if contrast >= LEAST_CONTRAST + 1.2 * look.camera.noise:
                break
            look = clearer(look, dice)
        else:
            picture, contrast = _render(flat, box, look, widest, dice)
        return WordPicture(picture, text, font.name, look, contrast)

    def _choose(self, dice: Dice) -> tuple[Text, Font, Typeface]:
        """Draw a text and a font that has all its characters."""
        for _ in range(_TEXT_TRIES):
            text = self._lexicon.draw(dice)
            letters = text.drawn.replace(" ", "")
            for _ in range(_FONT_TRIES):
                font = dice.pick_weighted(self._fonts, self._sums)
                typeface = open_typeface(font.path, font.face)
                if typeface.draws(letters):
                    return text, font, typeface
        raise DataError(
            f"no font found that has all characters of words such as `{text.drawn}`",
            hint="add fonts for these characters, or take such words out of the list",
        )

    def _write(self, text: str, typeface: Typeface, look: Look, dice: Dice) -> tuple[Mask, Box]:
        """Set the word and its neighbours; returns the sheet and the box of the word on it."""
        word = draw_line(text, typeface, look.letters, dice)
        height, width = word.shape
        pad_x, pad_y = int(height * 0.8) + 12, int(height * 0.75) + 12
        sheet = np.zeros((height + 2 * pad_y, width + 2 * pad_x), np.uint8)
        sheet[pad_y : pad_y + height, pad_x : pad_x + width] = word
        box = Box(pad_x, pad_y, pad_x + width, pad_y + height)
        extras = look.extras
        if extras.above:
            line = self._neighbour(typeface, look, dice)
            _paste(
                sheet,
                line,
                _beside(box, line, dice),
                box.top - extras.above * height - line.shape[0],
            )
        if extras.below:
            line = self._neighbour(typeface, look, dice)
            _paste(sheet, line, _beside(box, line, dice), box.bottom + extras.below * height)
        if extras.before:
            line = self._neighbour(typeface, look, dice)
            _paste(
                sheet,
                line,
                box.left - extras.before * height - line.shape[1],
                box.bottom - line.shape[0],
            )
        if extras.after:
            line = self._neighbour(typeface, look, dice)
            _paste(sheet, line, box.right + extras.after * height, box.bottom - line.shape[0])
        if extras.underline:
            row = int(box.bottom + height * 0.1)
            sheet[row : row + max(2, height // 14), pad_x : pad_x + width] = 255
        return sheet, box

    def _neighbour(self, typeface: Typeface, look: Look, dice: Dice) -> Mask:
        for _ in range(4):
            other = self._lexicon.draw(dice).label
            if typeface.draws(other.replace(" ", "")):
                return draw_line(other, typeface, look.letters, dice)
        return np.zeros((4, 4), np.uint8)


def _render(flat: Mask, box: Box, look: Look, widest: int, dice: Dice) -> tuple[Picture, float]:
    layers = build_layers(flat, look.paint)
    if look.warp.bend:
        layers, box = bend_layers(layers, box, look.warp.bend)
    lay, corners = text_matrix(box, look.warp)
    crop, size = crop_matrix(corners, look.margins, look.camera.height, widest)
    matrix = crop @ lay
    seen = warp_layers(layers, matrix, size)
    scene = draw_ground(look.ground, size, dice)
    if look.extras.plate:
        _plate(scene, box, matrix, look, dice)
    texture = None
    if look.paint.ink_texture:
        kind = "cloud" if dice.chance(0.6) else "grain"
        texture = crop_texture(kind, size, dice.between(0.8, 3), dice)
    scene = lay_on(scene, seen, look.paint, texture)
    if look.extras.wires or look.extras.cover:
        _cover(scene, look, dice)
    side = move_points(box.corners(), matrix)
    text_height = float(np.linalg.norm(side[3] - side[0]) + np.linalg.norm(side[2] - side[1])) / 2
    picture = take_picture(scene, look.camera, text_height / _TEXT_HEIGHT, dice)
    return picture, measure_contrast(picture, seen)


def measure_contrast(picture: Picture, layers: Layers) -> float:
    """Return how much letters differ from what is around them, less what it varies much."""
    import cv2

    ink = layers[..., 0]
    most = int(ink.max())
    if most < _FAINTEST:
        return 0.0
    letters = (ink > 0.6 * most).view(np.uint8)
    around = ((cv2.dilate(ink, _AROUND) > 0.4 * most) & (ink < 0.2 * most)).view(np.uint8)
    if not around.any():
        return 0.0
    inside = cv2.mean(picture, letters)[:3]
    outside, spread = cv2.meanStdDev(picture, mask=around)
    apart = difference(_colour(inside), _colour(outside[:, 0].tolist()))
    return apart - max(0.0, 0.45 * float(spread.mean()) - LEAST_CONTRAST)


def _colour(parts: Sequence[float]) -> Colour:
    return parts[0], parts[1], parts[2]


def _beside(box: Box, line: Mask, dice: Dice) -> float:
    """Return where a line above or below starts, so that it overlaps the word."""
    return dice.between(box.left - line.shape[1] * 0.8, box.right - line.shape[1] * 0.2)


def _paste(sheet: Mask, line: Mask, left: float, top: float) -> None:
    """Add a line to the sheet; what lies outside the sheet is cut."""
    x, y = round(left), round(top)
    rows = slice(max(0, y), min(sheet.shape[0], y + line.shape[0]))
    columns = slice(max(0, x), min(sheet.shape[1], x + line.shape[1]))
    if rows.start < rows.stop and columns.start < columns.stop:
        part = line[rows.start - y : rows.stop - y, columns.start - x : columns.stop - x]
        np.maximum(sheet[rows, columns], part, out=sheet[rows, columns])


def _plate(scene: Canvas, box: Box, matrix: Matrix, look: Look, dice: Dice) -> None:
    """Put the word on a board of its own, in front of something else."""
    import cv2

    board = scene.copy()
    scene[:] = any_colour(dice)
    if dice.chance(0.6):
        grain = crop_texture("leaves", scene.shape[1::-1], dice.between(0.7, 3), dice)
        scene += grain[..., None] * np.float32(dice.between(10, 60))
    points = move_points(box.corners(look.extras.plate * box.height), matrix)
    outline = np.round(points * 8).astype(np.int32)
    mask = np.zeros(scene.shape[:2], np.uint8)
    cv2.fillPoly(mask, [outline], 1, cv2.LINE_8, 3)
    np.copyto(scene, board, where=mask[..., None].astype(bool))
    if look.extras.plate_frame:
        colour = look.paint.ink if dice.chance(0.6) else any_colour(dice)
        cv2.polylines(scene, [outline], True, colour, look.extras.plate_frame, cv2.LINE_AA, 3)


def _cover(scene: Canvas, look: Look, dice: Dice) -> None:
    """Hang wires and things at the edge in front of the word."""
    import cv2

    height, width = scene.shape[:2]
    for _ in range(look.extras.wires):
        start = (0, dice.whole(0, height)) if dice.chance(0.7) else (dice.whole(0, width), 0)
        end = (width, dice.whole(0, height)) if start[0] == 0 else (dice.whole(0, width), height)
        cv2.line(scene, start, end, any_colour(dice), 1, cv2.LINE_AA)
    if look.extras.cover:
        reach = max(1, round(look.extras.cover * height))
        colour = np.asarray(any_colour(dice), np.float32)
        if dice.chance(0.5):
            scene[:reach] = colour
        else:
            scene[height - reach :] = colour
