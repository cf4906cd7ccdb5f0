"""A face while it is painted: red, green and blue each by itself.

What is done to all colours alike, as dirt, or looked up for each, as paint, is quicker so than
where the three lie side by side. Shapes are drawn once on each plane.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from trainferry.train.data.render.words.paint import Canvas, Colour

Planes = npt.NDArray[np.float32]
"""3, height, width."""

Outline = npt.NDArray[np.int32]
"""Points in eighths of a pixel."""

Point = tuple[int, int]


def as_outline(points: npt.ArrayLike) -> Outline:
    return np.round(np.asarray(points) * 8).astype(np.int32)


def in_planes(colour: Colour) -> Planes:
    """Return a colour that fills planes of any size."""
    return np.asarray(colour, np.float32)[:, None, None]


def lay_on(face: Planes, colour: Colour, share: Canvas) -> None:
    """Lay a colour on the face; each pixel takes its share of it."""
    face += (in_planes(colour) - face) * share


def fill_shape(face: Planes, outline: Outline, colour: Colour) -> None:
    import cv2

    for plane, part in zip(face, colour, strict=True):
        cv2.fillPoly(plane, [outline], part, cv2.LINE_AA, 3)


def draw_outline(
    face: Planes, outline: Outline, colour: Colour, wide: int, *, closed: bool = True
) -> None:
    import cv2

    for plane, part in zip(face, colour, strict=True):
        cv2.polylines(plane, [outline], closed, part, wide, cv2.LINE_AA, 3)


def draw_line(face: Planes, start: Point, end: Point, colour: Colour, wide: int) -> None:
    import cv2

    for plane, part in zip(face, colour, strict=True):
        cv2.line(plane, start, end, part, wide, cv2.LINE_AA)


def fill_ellipse(face: Planes, middle: Point, axes: Point, degrees: float, colour: Colour) -> None:
    import cv2

    for plane, part in zip(face, colour, strict=True):
        cv2.ellipse(plane, middle, axes, degrees, 0, 360, part, -1, cv2.LINE_AA)


def fill_circle(face: Planes, middle: Point, radius: int, colour: Colour) -> None:
    import cv2

    for plane, part in zip(face, colour, strict=True):
        cv2.circle(plane, middle, radius, part, -1, cv2.LINE_AA)
