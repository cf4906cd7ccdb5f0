"""Paint on a plate: ground, letters and border, how they wear, and the plate's shape."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from trainferry.train.data.render.signs.schemes import Scheme
from trainferry.train.data.render.words.background import crop_texture
from trainferry.train.data.render.words.dice import Dice
from trainferry.train.data.render.words.fonts import Mask

Face = npt.NDArray[np.uint8]
"""Height, width, 4: red, green, blue and how much of the background it covers.

Colours are less by what they do not cover, so that a plate is laid on its background by adding.
"""

_STAIN = 0.35
"""What the least of the letters leave on the ground where their paint is gone."""

_QUARTER = tuple((math.sin(a), math.cos(a)) for a in (math.pi / 2 * n / 4 for n in range(5)))
"""Sines and cosines along a quarter of a circle."""

_SHARES = np.linspace(0, 1, 256, dtype=np.float32)[:, None]
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
) -> npt.NDArray[np.int32]:
    """Return a rectangle with rounded, hollow or cut corners, in eighths of a pixel."""
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
    return np.round(np.array(points) * 8).astype(np.int32)


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


def paint(ink: Mask, scheme: Scheme, dice: Dice) -> npt.NDArray[np.float32]:
    import cv2

    # Painting is a table from ink to colour, many times faster than the sum it stands for.
    ground = np.asarray(scheme.ground, np.float32)
    table = ground + (np.asarray(scheme.ink, np.float32) - ground) * _SHARES
    colours = [cv2.LUT(ink, np.ascontiguousarray(values)) for values in table.T]
    face = cv2.merge(colours).astype(np.float32, copy=False)
    if scheme.engraved:
        edge = ink.astype(np.float32)
        face[1:, 1:] += ((edge[1:, 1:] - edge[:-1, :-1]) * np.float32(0.25))[..., None]
    if scheme.border == "frame":
        _draw_frame(face, scheme, dice)
    return face


def write_over(face: npt.NDArray[np.float32], ink: Mask, scheme: Scheme) -> None:
    """Bring back letters over which arms were painted."""
    import cv2

    rows = face.reshape(face.shape[0], -1)
    colours = np.tile(np.asarray(scheme.ink, np.float32), face.shape[1])
    shares = cv2.cvtColor(ink * np.float32(1 / 255), cv2.COLOR_GRAY2RGB).reshape(rows.shape)
    face += ((colours - rows) * shares).reshape(face.shape)


def _draw_frame(face: npt.NDArray[np.float32], scheme: Scheme, dice: Dice) -> None:
    import cv2

    height, width = face.shape[:2]
    wide = max(4, round(height * dice.between(0.05, 0.08)))
    points = _outline(width, height, wide / 2, 0, "line")
    cv2.polylines(face, [points], True, scheme.frame, wide, cv2.LINE_AA, 3)
    points = _outline(width, height, wide, 0, "line")
    cv2.polylines(face, [points], True, (20, 25, 30), max(1, wide // 5), cv2.LINE_AA, 3)


def cut_out(face: npt.NDArray[np.float32], scheme: Scheme) -> Face:
    import cv2

    height, width = face.shape[:2]
    points = _outline(width, height, 0, scheme.corner * height, "line")
    if scheme.rim is not None:
        cv2.polylines(face, [points], True, scheme.rim, max(3, height // 28), cv2.LINE_AA, 3)
    cover = np.zeros((height, width), np.uint8)
    cv2.fillPoly(cover, [points], 255, cv2.LINE_AA, 3)
    covered = cv2.cvtColor(cover, cv2.COLOR_GRAY2RGB)
    colours = cv2.multiply(face, covered, scale=1 / 255, dtype=cv2.CV_8U)
    out = cv2.cvtColor(colours, cv2.COLOR_RGB2RGBA)
    cv2.insertChannel(cover, out, 3)
    return np.asarray(out, np.uint8)
