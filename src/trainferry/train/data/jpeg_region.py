"""The upper part of a JPEG, decoded without what lies below it.

A baseline JPEG is stored from top to bottom. When the frame header of a copy says a smaller
height, the decoder ends there, and the rows that it gives have the values that they have in
the whole picture: a row's colours depend on the next two rows at most.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from trainferry.train.data.pictures import JPEG_END, MAX_PIXELS, Picture, decode_picture
from trainferry.train.data.scratch import Scratch

_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_BASELINE = (0xC0, 0xC1)
_SCAN = 0xDA
# To copy the bytes costs about as much as to decode a few rows.
_LEAST_SHARE_SAVED = 0.1

_scratch = Scratch()


@dataclass(frozen=True)
class Frame:
    """What a JPEG says of itself.

    `height_at` is where it says its height; None if its rows do not come once, top to bottom.
    """

    height: int
    width: int
    components: int
    height_at: int | None

    @property
    def is_usual(self) -> bool:
        """Whether it is grey or RGB, and not absurdly large."""
        return self.components in (1, 3) and self.height * self.width <= MAX_PIXELS


def find_frame(data: memoryview) -> Frame | None:
    """Return what the header says, or None for what is no JPEG or does not say its size."""
    start = None
    for marker, position in _segments(data):
        if marker in _FRAMES:
            start = position
        elif marker == _SCAN and start is not None:
            height, width, components = struct.unpack_from(">HHB", data, start + 5)
            in_one_scan = data[start + 1] in _BASELINE and data[position + 4] == components
            if height and width:
                return Frame(height, width, components, start + 5 if in_one_scan else None)
    return None


def decode_rows(data: memoryview, frame: Frame, bottom: int) -> Picture:
    """Return RGB with at least the first `bottom` rows; it lives until the next call.

    Raises PictureError like decode_picture.
    """
    decode = _decoder()
    if decode is None or not frame.is_usual:
        return decode_picture(data)
    upper = end_below(data, frame, bottom + 2)
    try:
        if upper is None:
            return decode(data, buffer=_scratch.bytes("rows", (frame.height, frame.width, 3)))
        copy, rows = upper
        target = _scratch.bytes("rows", (rows, frame.width, 3))
        return decode(copy, buffer=target, strict=False)
    except ValueError:
        return decode_picture(data)


def end_below(data: memoryview, frame: Frame, rows: int) -> tuple[Picture, int] | None:
    """Return a copy that ends after `rows`, and its rows; None where it cannot, or saves little.

    It lives until the next call. There are bytes left in it that a strict decoder minds.
    """
    saved = 1 - rows / frame.height
    # A tolerant decoder hides it when a picture is truncated.
    if frame.height_at is None or saved < _LEAST_SHARE_SAVED or bytes(data[-2:]) != JPEG_END:
        return None
    copy = _scratch.bytes("copy", (len(data),))
    copy[:] = data
    copy[frame.height_at], copy[frame.height_at + 1] = divmod(rows, 256)
    return copy, rows


def _segments(data: memoryview) -> Iterator[tuple[int, int]]:
    """Yield the markers of the header and where they are, up to the first scan."""
    position, end = 2, len(data) - 10
    if bytes(data[:2]) != b"\xff\xd8":
        return
    while position < end and data[position] == 0xFF:
        marker = data[position + 1]
        if marker == 0xFF:
            position += 1
            continue
        yield marker, position
        if marker == _SCAN:
            return
        position += 2 + (data[position + 2] << 8 | data[position + 3])


@cache
def _decoder() -> Callable[..., Picture] | None:
    """Only simplejpeg ends early without a message per picture; others decode all rows."""
    try:
        import simplejpeg
    except ImportError:
        return None
    decode: Callable[..., Any] = simplejpeg.decode_jpeg
    return decode
