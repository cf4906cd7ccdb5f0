"""The part of a photograph that a network sees: cut, resized and mirrored.

Evaluation follows the originals to the pixel: sizes are computed in float32 and cut off, so that
a short side of 107 becomes 255.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trainferry.train.data.aligned_resize import resize_middle
from trainferry.train.data.jpeg_reduced import SCALES, decode_reduced
from trainferry.train.data.jpeg_region import Frame, decode_rows, find_frame
from trainferry.train.data.legacy_resize import Floats, resize_legacy_into, resize_legacy_part
from trainferry.train.data.photos.sampling import (
    Box,
    Corners,
    sample_canvas_box,
    sample_distorted_box,
    sample_resized_box,
)
from trainferry.train.data.pictures import (
    Picture,
    decode_picture,
    resize_part_into,
    resize_picture,
)
from trainferry.train.recipe.tasks import PhotoAugment, PhotoPicture

if TYPE_CHECKING:
    from typing_extensions import Buffer

# Of the box, times what the network sees. The filter then covers four pixels or more; over fewer
# it is too coarse a triangle, and pictures come out softer than those of an evaluation.
_LEAST_LEFT = 2


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


def _resize_legacy(part: Picture, draw: Draw, picture: PhotoPicture, target: NDArray[Any]) -> None:
    """Without half pixels it makes a difference which comes first, the mirror or the size."""
    before = draw.mirrored and picture.crop != "canvas_box"
    resize_legacy_into(target, part[:, ::-1] if before else part)
    if draw.mirrored and not before:
        target[...] = target[:, ::-1].copy()


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
