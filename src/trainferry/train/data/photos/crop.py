"""The part of a photograph that a network sees: cut, resized and mirrored.

Boxes are drawn by the rule of TensorFlow's `sample_distorted_bounding_box`; fed with
TensorFlow's random numbers, they are the same boxes. Evaluation follows the originals to the
pixel: sizes are computed in float32 and cut off, so that a short side of 107 becomes 255.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trainferry.train.data.aligned_resize import resize_middle
from trainferry.train.data.jpeg_reduced import SCALES, decode_reduced
from trainferry.train.data.jpeg_region import Frame, decode_rows, find_frame
from trainferry.train.data.legacy_resize import Floats, resize_legacy_into, resize_legacy_part
from trainferry.train.data.pictures import (
    Picture,
    decode_picture,
    resize_part_into,
    resize_picture,
)
from trainferry.train.recipe.tasks import PhotoAugment, PhotoPicture

if TYPE_CHECKING:
    from typing_extensions import Buffer

Corners: TypeAlias = tuple[float, float, float, float]

_LEAST_COVERED = np.float32(0.1)
# Of the box, times what the network sees. The filter then covers four pixels or more; over fewer
# it is too coarse a triangle, and pictures come out softer than those of an evaluation.
_LEAST_LEFT = 2


class Box(NamedTuple):
    """A part of a picture, in pixels."""

    top: int
    left: int
    height: int
    width: int


@dataclass(frozen=True)
class Draw:
    """What the dice decided for one picture, and what is needed to make it."""

    data: memoryview
    frame: Frame | None
    decoded: Picture | None
    box: Box
    mirrored: bool


def draw_training(
    encoded: Buffer,
    boxes: Sequence[Corners],
    picture: PhotoPicture,
    augment: PhotoAugment,
    dice: np.random.Generator,
) -> Draw:
    """Draw a box of the picture, from its header alone where that says the size."""
    data = memoryview(encoded)
    frame = find_frame(data)
    decoded = None
    if frame is not None:
        height, width = frame.height, frame.width
    else:
        decoded = decode_picture(data)
        height, width = decoded.shape[:2]
    if picture.crop == "distorted_box":
        box = sample_distorted_box(dice, height, width, boxes, picture)
    elif picture.crop == "canvas_box":
        box = sample_canvas_box(dice, height, width, picture)
    else:
        box = sample_resized_box(dice, height, width, picture)
    return Draw(data, frame, decoded, box, dice.random() < augment.flip)


def make_training(draw: Draw, picture: PhotoPicture, target: NDArray[Any]) -> None:
    """Leave what was drawn in `target`, H W 3, as bytes or float32.

    As in the originals, a picture is mirrored before it is resized; one of a canvas, behind that.
    """
    scale = choose_scale(draw.box, picture)
    if scale > 1 and _make_reduced(draw, scale, target):
        return
    if draw.frame is not None:
        decoded = decode_rows(draw.data, draw.frame, draw.box.top + draw.box.height)
    else:
        assert draw.decoded is not None
        decoded = draw.decoded
    part = _cut(decoded, draw.box)
    if picture.filter == "legacy":
        _resize_legacy(part, draw, picture, target)
    else:
        part = _mirror(part) if draw.mirrored else part
        resize_part_into(target, part, (0, 0, draw.box.width, draw.box.height))


def choose_scale(box: Box, picture: PhotoPicture) -> int:
    """Return how many times smaller the picture may be decoded, 1 for not at all."""
    if picture.decode == "whole" or picture.filter == "legacy":
        return 1
    least = min(box.height / picture.height, box.width / picture.width) / _LEAST_LEFT
    return next((scale for scale in SCALES if scale <= least), 1)


def training_picture(
    encoded: Buffer,
    boxes: Sequence[Corners],
    picture: PhotoPicture,
    augment: PhotoAugment,
    dice: np.random.Generator,
    target: NDArray[Any],
) -> None:
    """Draw a part of the picture and leave it in `target`, H W 3, as bytes or float32.

    Many pictures are made faster by drawing all of them first: decoding leaves nothing else
    in the caches of a processor.
    """
    make_training(draw_training(encoded, boxes, picture, augment, dice), picture, target)


def evaluation_picture(encoded: Buffer, picture: PhotoPicture, target: Floats) -> None:
    """Leave the central part of the picture in `target`, H W 3, in values from 0 to 255."""
    target[...] = prepare_evaluation(decode_picture(encoded), picture)


def prepare_evaluation(rgb: Picture, picture: PhotoPicture) -> Floats:
    """Resize and cut the centre out, as the originals do; the values are not rounded."""
    if picture.evaluation == "central_box":
        share = picture.height / picture.evaluation_size
        return resize_middle(rgb, share, picture.height, picture.width)
    height, width = evaluation_size(rgb.shape[0], rgb.shape[1], picture)
    top, left = (height - picture.height) // 2, (width - picture.width) // 2
    rows, columns = range(top, top + picture.height), range(left, left + picture.width)
    if picture.filter == "legacy":
        return resize_legacy_part(rgb, (height, width), rows, columns)
    resized = resize_picture(rgb, height, width, "antialias")
    return _cut(resized, Box(top, left, picture.height, picture.width)).astype(np.float32)


def evaluation_size(height: int, width: int, picture: PhotoPicture) -> tuple[int, int]:
    """Return the height and width that a picture has before its centre is cut out."""
    size = picture.evaluation_size
    if picture.evaluation == "squash":
        return max(size, picture.height), max(size, picture.width)
    ratio = np.float32(size) / np.float32(min(height, width))
    resized = int(np.float32(height) * ratio), int(np.float32(width) * ratio)
    return max(resized[0], picture.height), max(resized[1], picture.width)


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


def _resize_legacy(part: Picture, draw: Draw, picture: PhotoPicture, target: NDArray[Any]) -> None:
    """Without half pixels it makes a difference which comes first, the mirror or the size."""
    before = draw.mirrored and picture.crop != "canvas_box"
    resize_legacy_into(target, part[:, ::-1] if before else part)
    if draw.mirrored and not before:
        target[...] = target[:, ::-1].copy()


def _stretched(start: int, length: int, canvas: int, size: int) -> tuple[int, int]:
    """Carry a stretch of a canvas over to so many pixels, as TensorFlow does, in float32."""
    whole = np.float32(canvas)
    first, last = (
        int(np.float32(place) / whole * np.float32(size)) for place in (start, start + length)
    )
    first = min(first, size - 1)
    return first, max(last - first, 1)


def _cut(picture: Picture, box: Box) -> Picture:
    return picture[box.top : box.top + box.height, box.left : box.left + box.width]


def _make_reduced(draw: Draw, scale: int, target: NDArray[Any]) -> bool:
    """Tell whether the picture could be decoded smaller; its box may begin within a pixel."""
    box = draw.box
    bottom, right = box.top + box.height, box.left + box.width
    if draw.frame is None:
        return False
    reduced = decode_reduced(draw.data, draw.frame, bottom, scale)
    if reduced is None:
        return False
    top, left = box.top // scale, box.left // scale
    high, wide = -(-bottom // scale) - top, -(-right // scale) - left
    part = _cut(reduced, Box(top, left, high, wide))
    begin, end = box.left / scale - left, right / scale - left
    if draw.mirrored:
        part, begin, end = _mirror(part), wide - end, wide - begin
    resize_part_into(target, part, (begin, box.top / scale - top, end, bottom / scale - top))
    return True


def _mirror(part: Picture) -> Picture:
    """Numpy mirrors whole pixels faster than single values."""
    pixels = part.view(np.dtype((np.void, part.shape[2])))[:, ::-1]
    return np.ascontiguousarray(pixels).view(np.uint8)


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
