"""Photographs made smaller before they are packed, also such as are too large to be read whole.

Of a JPEG with more pixels than are read, a half, a quarter or an eighth of the size is decoded,
and never the whole: it takes the memory of a picture that is read.
"""

from __future__ import annotations

import numpy as np

from trainferry.errors import PictureError
from trainferry.train.data.jpeg_reduced import SCALES, decode_large
from trainferry.train.data.jpeg_region import Frame, find_frame
from trainferry.train.data.pictures import (
    MAX_PIXELS,
    Picture,
    decode_picture,
    resize_part_into,
    resize_picture,
)

MAX_PIXELS_SMALLER = 4 * MAX_PIXELS
"""Half the size of these is as large as what is read whole; the largest phones make 200 million."""

_ENOUGH = 512
_LEFT = 2  # with less, the triangle of the resize is too coarse


def decode_for(data: bytes, short_side: int) -> tuple[Picture, bool]:
    """Return RGB no larger than with this short side, 0 for any, and whether it was made smaller.

    Raises PictureError for what is no whole picture, or too large to be decoded.
    """
    frame = find_frame(memoryview(data))
    if frame is not None and frame.height * frame.width > MAX_PIXELS and _may_be_reduced(frame):
        return _decode_large(data, frame, short_side), True
    picture = decode_picture(data)
    height, width = picture.shape[:2]
    if short_side and min(height, width) > short_side:
        size = _size(height, width, short_side)
        return resize_picture(picture, *size, "antialias"), True
    return picture, False


def _may_be_reduced(frame: Frame) -> bool:
    """Say whether rows come one after the other: of all others, decoders hold the whole."""
    small_enough = frame.height * frame.width <= MAX_PIXELS_SMALLER
    return small_enough and frame.components in (1, 3) and frame.height_at is not None


def _decode_large(data: bytes, frame: Frame, short_side: int) -> Picture:
    scale = _choose_scale(frame, short_side)
    if not scale:
        largest = min(frame.height, frame.width) // min(SCALES)
        enough = min(_ENOUGH, largest)
        raise PictureError(
            f"the picture says it is {frame.width} x {frame.height}; more than {MAX_PIXELS:,} "
            f"pixels are only read to be packed smaller: `data folder --short-side {enough}` "
            "does it",
            hint=f"pass --short-side {enough}, or another of {largest} at most",
        )
    picture = decode_large(memoryview(data), frame, scale)
    if picture is None:
        raise PictureError(
            f"the picture of {frame.width} x {frame.height} is damaged, or too large for the "
            "decoder that is here",
            hint="replace or remove the picture; or pip install simplejpeg",
        )
    made = np.empty((*_size(frame.height, frame.width, short_side), 3), np.uint8)
    # At the edges a pixel may stand for fewer than the others.
    resize_part_into(made, picture, (0, 0, frame.width / scale, frame.height / scale))
    return made


def _choose_scale(frame: Frame, short_side: int) -> int:
    """Return the smallest size that leaves enough, else the largest if it leaves any; or 0."""
    side = min(frame.height, frame.width)
    for scale in SCALES:
        if short_side and side >= scale * short_side * _LEFT:
            return scale
    largest = min(SCALES)
    return largest if short_side and side >= largest * short_side else 0


def _size(height: int, width: int, short_side: int) -> tuple[int, int]:
    ratio = short_side / min(height, width)
    return round(height * ratio), round(width * ratio)
