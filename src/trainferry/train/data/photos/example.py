"""The features of one photograph, as the ImageNet records of TensorFlow name them.

`image/encoded`, `image/class/label`, and where there are `image/class/text`, `image/filename`
and `image/object/bbox/*`; or `image`, `label` and `file_name`, as TensorFlow Datasets writes.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from typing import TypeAlias

from trainferry.errors import RecordError
from trainferry.train.data.example import first_bytes, integers, parse_example

Boxes: TypeAlias = tuple[tuple[float, float, float, float], ...]
Record: TypeAlias = Mapping[bytes, memoryview]

_PICTURES = (b"image/encoded", b"image")
_LABELS = (b"image/class/label", b"label")
_NAMES = (b"image/filename", b"file_name", b"image/path")
_SIDES = tuple(f"image/object/bbox/{side}" for side in ("ymin", "xmin", "ymax", "xmax"))
_SIDE_KEYS = tuple(side.encode() for side in _SIDES)


def is_photo(record: Record) -> bool:
    """Tell whether a record has a picture and a class label."""
    return any(key in record for key in _PICTURES) and any(key in record for key in _LABELS)


def read_label(record: Record) -> int | None:
    """Return the label as it was written, or None."""
    for key in _LABELS:
        feature = record.get(key)
        if feature is not None:
            values = integers(feature)
            return values[0] if values else None
    return None


def read_encoded(record: Record) -> memoryview | None:
    """Return the bytes of the picture, not copied."""
    return _first(record, _PICTURES)


def read_text(record: Record) -> str:
    """Return what people call the class, or an empty text."""
    return _text(record, (b"image/class/text",))


def read_folder(record: Record) -> str:
    """Return the wnid or folder of the class, or an empty text."""
    return _text(record, (b"image/class/synset",))


def read_name(record: Record) -> str:
    """Return the name of the picture's file, or an empty text."""
    return _text(record, _NAMES)


def read_boxes(data: memoryview, record: Record) -> Boxes:
    """Return the boxes that have an area, cut to the picture; `data` is the whole record.

    Raises RecordError when the four sides are no numbers, or not equally many.
    """
    features = [record.get(key) for key in _SIDE_KEYS]
    if not any(features):
        return ()
    sides = [_packed_floats(feature) for feature in features]
    try:
        if None in sides:
            example = parse_example(data)
            sides = [tuple(map(float, example.get(side, ()))) for side in _SIDES]
        boxes = [_inside(*box) for box in zip(*(side or () for side in sides), strict=True)]
    except ValueError:
        raise RecordError(
            "a record has boxes with unequally many sides, or with sides that are no numbers",
            hint="make the records again; `trainferry data check` lists all such records",
        ) from None
    return tuple(box for box in boxes if box[0] < box[2] and box[1] < box[3])


def _first(record: Record, keys: tuple[bytes, ...]) -> memoryview | None:
    for key in keys:
        feature = record.get(key)
        if feature is not None:
            return first_bytes(feature)
    return None


def _text(record: Record, keys: tuple[bytes, ...]) -> str:
    value = _first(record, keys)
    return str(value, "utf-8", "replace") if value else ""


def _packed_floats(feature: memoryview | None) -> tuple[float, ...] | None:
    """Read a short list of floats as everybody writes it; None for any other."""
    if not feature:
        return ()
    head, size = bytes(feature[:4]), len(feature)
    if size < 132 and head[0] == 0x12 and head[1] == size - 2:
        if size == 2:
            return ()
        if head[2] == 0x0A and head[3] == size - 4 and not head[3] % 4:
            return struct.unpack_from(f"<{head[3] // 4}f", feature, 4)
    return None


def _inside(*box: float) -> tuple[float, float, float, float]:
    top, left, bottom, right = (
        min(max(side, 0.0), 1.0) if math.isfinite(side) else 0.0 for side in box
    )
    return top, left, bottom, right
