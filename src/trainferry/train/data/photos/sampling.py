"""Which part of a photograph is shown while training: boxes, drawn at random.

By the rule of TensorFlow's `sample_distorted_bounding_box`: fed with TensorFlow's random numbers,
they are the same boxes. Or by the rule that is usual with PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from trainferry.train.recipe.tasks import PhotoPicture

Corners: TypeAlias = tuple[float, float, float, float]

_LEAST_COVERED = np.float32(0.1)


class Box(NamedTuple):
    """A part of a picture, in pixels."""

    top: int
    left: int
    height: int
    width: int


def sample_distorted_box(
    dice: np.random.Generator,
    height: int,
    width: int,
    boxes: Sequence[Corners],
    picture: PhotoPicture,
) -> Box:
    """Draw a box that covers a tenth of one of `boxes` (ymin, xmin, ymax, xmax, from 0 to 1).

    Without boxes, the whole picture is the one to cover; when no attempt succeeds, the
    whole picture is the result.
    """
    objects = [_pixels(corners, height, width) for corners in boxes] or [(0, 0, height, width)]
    least, most = np.float32(picture.least_aspect), np.float32(picture.most_aspect)
    for _ in range(picture.attempts):
        aspect = np.float32(dice.random()) * (most - least) + least
        box = _propose(dice, height, width, aspect, np.float32(picture.least_area))
        if box is not None and _covers(box, objects):
            return box
    return Box(0, 0, height, width)


def sample_canvas_box(
    dice: np.random.Generator, height: int, width: int, picture: PhotoPicture
) -> Box:
    """Draw a box on a canvas and stretch it over the picture; at least a pixel is left of it."""
    high = picture.evaluation_size
    wide = round(high * picture.width / picture.height)
    drawn = sample_distorted_box(dice, high, wide, (), picture)
    top, tall = _stretched(drawn.top, drawn.height, high, height)
    left, broad = _stretched(drawn.left, drawn.width, wide, width)
    return Box(top, left, tall, broad)


def sample_resized_box(
    dice: np.random.Generator, height: int, width: int, picture: PhotoPicture
) -> Box:
    """Draw a box of uniform area and log-uniform aspect; else the largest central one."""
    least, most = math.log(picture.least_aspect), math.log(picture.most_aspect)
    for _ in range(picture.attempts):
        area = height * width * dice.uniform(picture.least_area, 1.0)
        aspect = math.exp(dice.uniform(least, most))
        wide, high = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
        if 0 < wide <= width and 0 < high <= height:
            top = int(dice.integers(height - high + 1))
            return Box(top, int(dice.integers(width - wide + 1)), high, wide)
    high = min(height, max(1, round(width / picture.least_aspect)))
    wide = min(width, max(1, round(height * picture.most_aspect)))
    return Box((height - high) // 2, (width - wide) // 2, high, wide)


def _stretched(start: int, length: int, canvas: int, size: int) -> tuple[int, int]:
    """Carry a stretch of a canvas over to so many pixels, as TensorFlow does, in float32."""
    whole = np.float32(canvas)
    first, last = (
        int(np.float32(place) / whole * np.float32(size)) for place in (start, start + length)
    )
    first = min(first, size - 1)
    return first, max(last - first, 1)


def _propose(
    dice: np.random.Generator, height: int, width: int, aspect: np.float32, least_area: np.float32
) -> Box | None:
    """Draw a height, from the least area up to the whole picture, then a place."""
    whole = np.float32(width * height)
    least = least_area * np.float32(width) * np.float32(height)
    high = _round(np.sqrt(least / aspect))
    highest = _round(np.sqrt(whole / aspect))
    if _times(highest, aspect) > width:
        highest = int((width + 0.5 - float(np.float32(1e-7))) / float(aspect))
        highest -= _times(highest, aspect) > width
    highest = min(highest, height)
    high = min(high, highest)
    if high < highest:
        high += int(dice.integers(highest - high + 1))
    # Rounding may leave the area too small or too large by a row.
    wide = _times(high, aspect)
    if np.float32(wide * high) < least:
        high += 1
        wide = _times(high, aspect)
    if np.float32(wide * high) > whole:
        high -= 1
        wide = _times(high, aspect)
    fits = 0 < wide <= width and 0 < high <= height
    if not fits or not least <= np.float32(wide * high) <= whole:
        return None
    top = int(dice.integers(height - high)) if high < height else 0
    left = int(dice.integers(width - wide)) if wide < width else 0
    return Box(top, left, high, wide)


def _covers(box: Box, objects: Sequence[tuple[int, int, int, int]]) -> bool:
    bottom, right = box.top + box.height, box.left + box.width
    for ymin, xmin, ymax, xmax in objects:
        area = (ymax - ymin) * (xmax - xmin)
        if area < 1:
            continue
        high = min(bottom, ymax) - max(box.top, ymin)
        wide = min(right, xmax) - max(box.left, xmin)
        shared = high * wide if high >= 0 and wide >= 0 else 0
        if np.float32(shared) / np.float32(area) >= _LEAST_COVERED:
            return True
    return False


def _pixels(corners: Corners, height: int, width: int) -> tuple[int, int, int, int]:
    ymin, xmin, ymax, xmax = (np.float32(min(max(0.0, value), 1.0)) for value in corners)
    tall, broad = np.float32(height), np.float32(width)
    return int(ymin * tall), int(xmin * broad), int(ymax * tall), int(xmax * broad)


def _times(height: int, aspect: np.float32) -> int:
    return _round(np.float32(height) * aspect)


def _round(value: np.float32) -> int:
    """To the nearest whole number, halves to even."""
    return round(float(value))
