"""A JPEG decoded at a half, a quarter or an eighth of its size, without what lies below a row.

libjpeg makes 4, 2 or 1 values of the 8 of a block. Pixel n then stands for the pixels from
n * scale on, also at the right and lower edge, where it may stand for fewer. All decoders use
that library, and the values are equal.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from PIL import Image

from trainferry.train.data.jpeg_region import Frame, end_below
from trainferry.train.data.pictures import DAMAGED, Picture, decode_with_opencv
from trainferry.train.data.scratch import Scratch

SCALES = (8, 4, 2)

_Decoder: TypeAlias = Callable[[memoryview, Frame, int, int], Picture | None]
_scratch = Scratch()


def decode_reduced(data: memoryview, frame: Frame, bottom: int, scale: int) -> Picture | None:
    """Return RGB, `scale` times smaller, at least down to row `bottom` of the picture.

    It lives until the next call. None stands for what must be decoded whole to be judged.
    """
    return _decode(data, frame, bottom, scale) if frame.is_usual else None


def decode_large(data: memoryview, frame: Frame, scale: int) -> Picture | None:
    """Return all of a picture, which may be larger than those that are decoded whole.

    It lives until the next call. None stands for what is damaged, or too large for a decoder.
    """
    return _decode(data, frame, frame.height, scale)


def _decode(data: memoryview, frame: Frame, bottom: int, scale: int) -> Picture | None:
    picture = _decoder()(data, frame, bottom, scale)
    high, wide = -(-bottom // scale), -(-frame.width // scale)
    if picture is None or len(picture) < high or picture.shape[1] != wide:
        return None
    return picture


@cache
def _decoder() -> _Decoder:
    try:
        import simplejpeg
    except ImportError:
        pass
    else:
        return _with_simplejpeg(simplejpeg.decode_jpeg)
    try:
        import cv2  # noqa: F401 - only whether it is there
    except ImportError:
        return _decode_with_pillow
    return _decode_with_opencv


def _with_simplejpeg(decode: Callable[..., Any]) -> _Decoder:
    def decode_upper(data: memoryview, frame: Frame, bottom: int, scale: int) -> Picture | None:
        # Colours of a row may depend on the next two, here as in a whole picture.
        upper = end_below(data, frame, (-(-bottom // scale) + 2) * scale)
        source, rows = (data, frame.height) if upper is None else upper
        height, width = -(-rows // scale), -(-frame.width // scale)
        size = {"min_height": height, "min_width": width, "min_factor": scale}
        buffer = _scratch.bytes("reduced", (height, width, 3))
        try:
            picture: Picture = decode(source, **size, buffer=buffer, strict=upper is None)
        except ValueError:
            return None
        return picture

    return decode_upper


def _decode_with_opencv(
    data: memoryview, _frame: Frame, _bottom: int, scale: int
) -> Picture | None:
    return decode_with_opencv(data, scale)


def _decode_with_pillow(data: memoryview, frame: Frame, _bottom: int, scale: int) -> Picture | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=["JPEG"]) as image:
                image.draft(None, (frame.width // scale, frame.height // scale))
                return np.array(image.convert("RGB"))
    except (*DAMAGED, Image.DecompressionBombError):
        return None
