"""How large photographs are beside what a network sees of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trainferry.errors import RecordError
from trainferry.train.data.jpeg_region import find_frame
from trainferry.train.data.photos.records import PhotoRecords
from trainferry.train.recipe.tasks import PhotoPicture

if TYPE_CHECKING:
    from trainferry.train.data.batches import Positions

_LOOKED_AT = 32
_ENOUGH = 512
_MUCH_LARGER = 2.0  # in each direction


def find_short_side(records: PhotoRecords, kept: Positions) -> int:
    """Return the median of the short sides of some JPEGs, by their headers; 0 if there are none."""
    sides = []
    for place in np.linspace(0, len(kept) - 1, min(_LOOKED_AT, len(kept))).astype(np.int64):
        try:
            frame = find_frame(records.sample(int(kept[place])).encoded)
        except RecordError:
            continue  # counted where it is read
        if frame is not None:
            sides.append(min(frame.height, frame.width))
    return int(np.median(sides)) if sides else 0


def describe_large(short_side: int, picture: PhotoPicture) -> str:
    """Say what photographs cost that are much larger than needed; "" for all others."""
    enough = max(_ENOUGH, 2 * picture.evaluation_size)  # a cut of a quarter is as large as needed
    if short_side < _MUCH_LARGER * enough:
        return ""
    return (
        f"large: half of the photographs have a short side of {short_side:,} or more, and the "
        f"network sees {min(picture.height, picture.width)}; packed with "
        f"`trainferry data folder --short-side {enough}` they have "
        f"{(short_side / enough) ** 2:.0f} times fewer pixels to decode"
    )
