"""A picture of the confusion matrix: which class is taken for which.

A row is a class, a column what it was taken for, and the colour the share of the row: green for
what is right, red for what is not. Shares are drawn by their square root, so that rare mistakes
can be seen; where a cell is a few pixels, all of them are drawn strongly.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from trainferry.errors import DataError
from trainferry.train.data.pictures import Picture
from trainferry.train.data.render.picture_text import fit_text, font_for
from trainferry.train.data.whole_file import write_whole

MOST_CLASSES = 4000
NUMBERED = 20
"""Up to so many classes, cells hold how often, not only a colour."""

_MARGIN = 40
_TITLE, _TEXT = 34, 24  # pixels
_LONGEST_NAME = 380
_TICK = 110  # room for labels in place of names
_BAR = 44  # of the scale
_SMALL = 8  # pixels of a cell
_PAPER, _INK, _FAINT, _LINE = "#ffffff", "#1d2733", "#6b7684", "#d5dbe3"
_RIGHT, _WRONG = (11, 110, 55), (190, 24, 24)
_STEPS = (1, 2, 5, 10, 20, 50, 100)
_MARKS = (0.0, 0.01, 0.05, 0.2, 0.5, 1.0)

Row = Mapping[str, Any]


def confusion_picture(classes: Sequence[Row], confused: Sequence[Row] | None, path: Path) -> None:
    """Write the picture as a PNG; `classes` and `confused` are those of a score's details."""
    target = io.BytesIO()
    Image.fromarray(draw_confusion(classes, confused)).save(target, "PNG")
    write_whole(path, target.getvalue())


def draw_confusion(classes: Sequence[Row], confused: Sequence[Row] | None) -> Picture:
    """Return the picture as RGB values; classes that nothing was or was taken for are left out."""
    if confused is None:
        raise DataError(
            "it is not known for all samples which class was taken for which",
            hint="score the run in one process",
        )
    read = {pair["read_label"] for pair in confused}
    shown = [each for each in classes if each["samples"] or each["label"] in read]
    if not 1 <= len(shown) <= MOST_CLASSES:
        raise DataError(
            f"{len(shown)} classes cannot be drawn",
            hint=f"up to {MOST_CLASSES} can; --json tells all pairs that were confused",
        )
    return np.array(_draw(_Matrix(shown, _count(shown, confused))))


@dataclass(frozen=True)
class _Matrix:
    classes: Sequence[Row]
    times: NDArray[np.int64]  # K K, rows are the truth

    @property
    def cell(self) -> int:
        """The side of a cell in pixels: room for a number, for a name, or for no more than fits."""
        count = len(self.classes)
        if count <= NUMBERED:
            return 84
        return 34 if count <= 100 else max(2400 // count, 1)

    @property
    def is_named(self) -> bool:
        return self.cell >= 30

    @property
    def side(self) -> int:
        return self.cell * len(self.classes)

    def shares(self) -> NDArray[np.float64]:
        return self.times / np.maximum(self.times.sum(axis=1, keepdims=True), 1)


def _count(shown: Sequence[Row], confused: Sequence[Row]) -> NDArray[np.int64]:
    place = {each["label"]: number for number, each in enumerate(shown)}
    times = np.diag(np.array([each["right"] for each in shown], np.int64))
    for pair in confused:
        times[place[pair["truth_label"]], place[pair["read_label"]]] += pair["times"]
    return times


def _draw(matrix: _Matrix) -> Image.Image:
    room = _room_for_labels(matrix)
    left, top = _MARGIN + _TEXT + 16 + room, _MARGIN + 2 * _TITLE + _TEXT + 16 + room
    width = max(left + matrix.side + 40 + 2 * _BAR + 90 + _MARGIN, 900)
    page = Image.new("RGB", (width, top + max(matrix.side, 420) + _MARGIN), _PAPER)
    pen = ImageDraw.Draw(page)
    _draw_title(pen, matrix)
    strengths = np.sqrt(matrix.shares())
    if matrix.cell < _SMALL:
        strengths = np.where(strengths > 0, np.maximum(strengths, 0.5), 0)
    colours = _colours(strengths, np.eye(len(matrix.classes), dtype=np.bool_))
    cells = Image.fromarray(colours).resize((matrix.side, matrix.side), Image.Resampling.NEAREST)
    page.paste(cells, (left, top))
    if matrix.cell >= _SMALL:
        _draw_lines(pen, matrix, left, top)
    pen.rectangle((left - 1, top - 1, left + matrix.side, top + matrix.side), outline=_FAINT)
    if len(matrix.classes) <= NUMBERED:
        _draw_numbers(pen, matrix, left, top)
    _draw_labels(page, matrix, left, top)
    _write(pen, (left + matrix.side // 2, top - room - 16), "taken for", _FAINT, "ms")
    _write_upwards(page, (_MARGIN, top + matrix.side // 2), "is", _FAINT, "middle")
    _draw_scale(page, left + matrix.side + 40, top)
    return page


def _room_for_labels(matrix: _Matrix) -> int:
    if not matrix.is_named:
        return _TICK
    longest = max(_length(each["name"]) for each in matrix.classes)
    return min(int(longest), _LONGEST_NAME) + 16


def _draw_title(pen: ImageDraw.ImageDraw, matrix: _Matrix) -> None:
    samples, right = int(matrix.times.sum()), int(np.trace(matrix.times))
    title = f"{right / max(samples, 1):.2%} of {samples:,} photographs named right"
    pen.text((_MARGIN, _MARGIN), title, _INK, font_for(title, _TITLE))


def _colours(strengths: NDArray[np.float64], right: NDArray[np.bool_]) -> Picture:
    """Blend from paper, at strength 0, to full colour, at 1."""
    full = np.where(right[..., None], np.array(_RIGHT), np.array(_WRONG))
    return np.rint(255 + (full - 255) * strengths[..., None]).astype(np.uint8)


def _draw_lines(pen: ImageDraw.ImageDraw, matrix: _Matrix, left: int, top: int) -> None:
    for number in range(1, len(matrix.classes)):
        along = number * matrix.cell
        pen.line((left + along, top, left + along, top + matrix.side - 1), _LINE)
        pen.line((left, top + along, left + matrix.side - 1, top + along), _LINE)


def _draw_numbers(pen: ImageDraw.ImageDraw, matrix: _Matrix, left: int, top: int) -> None:
    shares = matrix.shares()
    for row, column in np.argwhere(matrix.times > 0).tolist():
        text = str(matrix.times[row, column])
        size = _TEXT if len(text) < 5 else 18
        colour = _PAPER if shares[row, column] > 0.2 else _INK
        place = left + (column + 0.5) * matrix.cell, top + (row + 0.5) * matrix.cell
        pen.text(place, text, colour, font_for(text, size), anchor="mm")


def _draw_labels(page: Image.Image, matrix: _Matrix, left: int, top: int) -> None:
    """Write names, or every so many classes the label, at both sides of the matrix."""
    pen = ImageDraw.Draw(page)
    room = 1 if matrix.is_named else 1.5 * _TEXT / matrix.cell
    every = next(each for each in _STEPS if each >= room)
    first = -matrix.classes[0]["label"] % every
    for number in range(first, len(matrix.classes), every):
        each = matrix.classes[number]
        text = each["name"] if matrix.is_named else str(each["label"])
        middle = int((number + 0.5) * matrix.cell)
        _write(pen, (left - 12, top + middle), text, _INK, "rm")
        _write_upwards(page, (left + middle, top - 12), text, _INK, "start")


def _draw_scale(page: Image.Image, left: int, top: int) -> None:
    pen = ImageDraw.Draw(page)
    height = 360
    strengths = np.linspace(1, 0, height)[:, None]
    for place, right, word in ((left, True, "right"), (left + _BAR, False, "wrong")):
        column = _colours(strengths, np.full(strengths.shape, right))
        page.paste(Image.fromarray(column).resize((_BAR, height)), (place, top))
        _write_upwards(page, (place + _BAR // 2, top - 12), word, _INK, "start")
    pen.rectangle((left - 1, top - 1, left + 2 * _BAR, top + height), outline=_FAINT)
    for mark in _MARKS:
        y = top + int((1 - np.sqrt(mark)) * (height - 1))
        pen.line((left + 2 * _BAR, y, left + 2 * _BAR + 8, y), _FAINT)
        _write(pen, (left + 2 * _BAR + 14, y), f"{mark:.0%}", _INK, "lm")
    _write(pen, (left, top + height + _TEXT + 12), "of the row", _FAINT, "ls")


def _write(
    pen: ImageDraw.ImageDraw, place: tuple[int, int], text: str, colour: str, anchor: str
) -> None:
    shown = fit_text(text, _TEXT, _LONGEST_NAME)
    pen.text(place, shown, colour, font_for(text, _TEXT), anchor=anchor)


def _write_upwards(
    page: Image.Image, place: tuple[int, int], text: str, colour: str, at: str
) -> None:
    """Write from below to above; `place` is its "start" or its "middle"."""
    strip = Image.new("L", (int(_length(text)) + 2, 2 * _TEXT))
    shown = fit_text(text, _TEXT, _LONGEST_NAME)
    ImageDraw.Draw(strip).text((0, _TEXT), shown, 255, font_for(text, _TEXT), anchor="lm")
    turned = strip.rotate(90, expand=True)
    x = place[0] - turned.width // 2
    y = place[1] - (turned.height if at == "start" else turned.height // 2)
    page.paste(Image.new("RGB", turned.size, colour), (x, y), turned)


def _length(text: str) -> float:
    return font_for(text, _TEXT).getlength(fit_text(text, _TEXT, _LONGEST_NAME))
