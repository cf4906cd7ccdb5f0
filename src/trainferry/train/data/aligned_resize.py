"""The middle of a picture, resized as TensorFlow's `crop_and_resize` does: corners on corners.

The first and last pixels of the result lie on those of the part, and each is mixed from the
nearest four, in float32 and in TensorFlow's order: the values are its own to the last bit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trainferry.train.data.legacy_resize import Floats
from trainferry.train.data.pictures import Picture


def resize_middle(picture: Picture, share: float, height: int, width: int) -> Floats:
    """Return the central `share` of both sides, height x width x 3, in values 0 to 255."""
    top, bottom, down = _places(picture.shape[0], share, height)
    left, right, across = _places(picture.shape[1], share, width)
    upper = _mix(picture[top], left, right, across)
    lower = _mix(picture[bottom], left, right, across)
    result: Floats = upper + (lower - upper) * down[:, None, None]
    return result


def _places(
    size: int, share: float, count: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """Return between which two pixels each of `count` places lies, and how far behind the first."""
    begin, end = np.float32(0.5 * (1 - share)), np.float32(0.5 * (1 + share))
    last = np.float32(size - 1)
    if count > 1:
        step = (end - begin) * last / np.float32(count - 1)
        places = begin * last + np.arange(count, dtype=np.float32) * step
    else:
        places = np.array([np.float32(0.5) * (begin + end) * last], np.float32)
    places = np.minimum(places, last)
    low = np.floor(places)
    return low.astype(np.intp), np.ceil(places).astype(np.intp), places - low


def _mix(rows: Picture, left: NDArray[np.intp], right: NDArray[np.intp], share: Floats) -> Floats:
    first, second = rows[:, left].astype(np.float32), rows[:, right].astype(np.float32)
    mixed: Floats = first + (second - first) * share[None, :, None]
    return mixed
