"""Paint on a plate: ground, letters and border, how they wear, and the plate's shape."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from trainferry.train.data.render.signs.planes import (
    Outline,
    Planes,
    as_outline,
    draw_outline,
    in_planes,
    lay_on,
)
from trainferry.train.data.render.signs.schemes import Scheme
from trainferry.train.data.render.words.background import crop_texture
from trainferry.train.data.render.words.dice import Dice
from trainferry.train.data.render.words.fonts import Mask
from trainferry.train.data.render.words.paint import Colour

Face = npt.NDArray[np.uint8]
"""Height, width, 4: red, green, blue and how much of the background it covers.

Colours are less by what they do not cover, so that a plate is laid on its background by adding.
"""

_STAIN = 0.35
"""What the least of the letters leave on the ground where their paint is gone."""

_QUARTER = tuple((math.sin(a), math.cos(a)) for a in (math.pi / 2 * n / 4 for n in range(5)))
"""Sines and cosines along a quarter of a circle."""

_SHARES = np.linspace(0, 1, 256, dtype=np.float32)
"""How much of its colour ink of each strength has."""


def draw_border(ink: Mask, scheme: Scheme, head: float) -> None:
    import cv2

    if scheme.border in ("none", "frame"):
        return
    height, width = ink.shape
    inset = scheme.inset * height
    thick = max(1, round(scheme.border_width * height))
    reach = max(scheme.corner * height, 0.06 * height)
    top = head + inset * 0.6 if head else inset
    points = _outline(width, height, inset, reach, scheme.border, top)
    cv2.polylines(ink, [points], True, 255, thick, cv2.LINE_AA, 3)
    if scheme.border == "double":
        points = _outline(width, height, inset * 0.3, reach, "line", top * 0.3)
        cv2.polylines(ink, [points], True, 255, max(1, thick // 2), cv2.LINE_AA, 3)


def _outline(
    width: float, height: float, inset: float, reach: float, border: str, top: float | None = None
) -> Outline:
    """Return a rectangle with rounded, hollow or cut corners."""
    upper = inset if top is None else top
    left, right, bottom = inset, width - 1 - inset, height - 1 - inset
    reach = max(0.0, min(reach, (right - left) / 2, (bottom - upper) / 2))
    points: list[tuple[float, float]] = []
    corners = (
        (left, upper, 1, 1),
        (right, upper, -1, 1),
        (right, bottom, -1, -1),
        (left, bottom, 1, -1),
    )
    for number, (x, y, across, down) in enumerate(corners):
        arc = _arc(x, y, across * reach, down * reach, border)
        points += arc if number % 2 == 0 else arc[::-1]
    return as_outline(points)


def _arc(x: float, y: float, across: float, down: float, border: str) -> list[tuple[float, float]]:
    """Return a corner from its side to its top or bottom."""
    if border == "cut":
        return [(x, y + down), (x + across, y)]
    if border == "notched":
        return [(x + across * sin, y + down * cos) for sin, cos in _QUARTER]
    return [(x + across * (1 - cos), y + down * (1 - sin)) for sin, cos in _QUARTER]


def wear(ink: Mask, strength: float, dice: Dice) -> Mask:
    """Take paint off the letters in patches; what is left can still be made out."""
    texture = crop_texture("cloud", ink.shape[1::-1], dice.between(0.5, 2.0), dice)
    left = np.clip((texture + np.float32(1.3 - strength)) * 3, _STAIN, 1)
    return (ink * left).astype(np.uint8)


def paint(ink: Mask, scheme: Scheme, dice: Dice) -> Planes:
    import cv2

    # Painting is a table from ink to colour, many times faster than the sum it stands for.
    ground = in_planes(scheme.ground)
    tables = ground + (in_planes(scheme.ink) - ground) * _SHARES
    face = np.empty((3, *ink.shape), np.float32)
    for plane, table in zip(face, tables, strict=True):
        cv2.LUT(ink, table, dst=plane)
    if scheme.engraved:
        edge = ink.astype(np.float32)
        face[:, 1:, 1:] += (edge[1:, 1:] - edge[:-1, :-1]) * np.float32(0.25)
    if scheme.border == "frame":
        _draw_frame(face, scheme, dice)
    return face


def write_over(face: Planes, ink: Mask, colour: Colour) -> None:
    """Write letters over what was painted before."""
    lay_on(face, colour, ink * np.float32(1 / 255))


def _draw_frame(face: Planes, scheme: Scheme, dice: Dice) -> None:
    height, width = face.shape[1:]
    wide = max(4, round(height * dice.between(0.05, 0.08)))
    draw_outline(face, _outline(width, height, wide / 2, 0, "line"), scheme.frame, wide)
    draw_outline(face, _outline(width, height, wide, 0, "line"), (20, 25, 30), max(1, wide // 5))


def cut_out(face: Planes, scheme: Scheme) -> Face:
    import cv2

    height, width = face.shape[1:]
    points = _outline(width, height, 0, scheme.corner * height, "line")
    if scheme.rim is not None:
        draw_outline(face, points, scheme.rim, max(3, height // 28))
    cover = np.zeros((height, width), np.uint8)
    cv2.fillPoly(cover, [points], 255, cv2.LINE_AA, 3)
    colours = [cv2.multiply(plane, cover, scale=1 / 255, dtype=cv2.CV_8U) for plane in face]
    return np.asarray(cv2.merge((*colours, cover)), np.uint8)
