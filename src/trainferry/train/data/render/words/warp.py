"""From the flat line of text to the picture: bending, slant, turn, perspective, crop."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

Layers = npt.NDArray[np.uint8]
Points = npt.NDArray[np.float32]
Matrix = npt.NDArray[np.float64]

_WORD_SHAPE = 4.0
"""How many times as wide as high a usual word is."""


@dataclass(frozen=True)
class Bend:
    """A curved baseline; `height` in text heights (positive arches up), `waves` 0 for an arc."""

    height: float
    waves: float = 0.0
    phase: float = 0.0


@dataclass(frozen=True)
class Warp:
    """How the text lies in the picture; corners move by parts of the text height."""

    squeeze: float = 1.0
    slant: float = 0.0
    turn: float = 0.0
    corners: tuple[float, ...] = (0.0,) * 8
    bend: Bend | None = None


@dataclass(frozen=True)
class Box:
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def width(self) -> float:
        return self.right - self.left

    def corners(self, pad: float = 0.0) -> Points:
        left, top, right, bottom = (
            self.left - pad,
            self.top - pad,
            self.right + pad,
            self.bottom + pad,
        )
        return np.array([[left, top], [right, top], [right, bottom], [left, bottom]], np.float32)


def level(warp: Warp, box: Box) -> Warp:
    """Turn a long line less: its ends rise no higher than those of a word."""
    return replace(warp, turn=warp.turn * min(1.0, _WORD_SHAPE * box.height / box.width))


def bend_layers(layers: Layers, box: Box, bend: Bend) -> tuple[Layers, Box]:
    """Bend the layers around the text box; returns them with the box of the bent text."""
    import cv2

    height, width = layers.shape[:2]
    columns = (np.arange(width, dtype=np.float32) - box.left) / max(box.width, 1)
    if bend.waves:
        shift = np.sin(columns * (2 * np.pi * bend.waves) + bend.phase)
        slope = np.zeros_like(columns)
    else:
        shift = 1 - (2 * columns - 1) ** 2
        # Letters on an arc lean outwards: the normal of the baseline turns with the column.
        slope = 4 * (2 * columns - 1) * bend.height * box.height / max(box.width, 1)
    shift = shift * np.float32(bend.height * box.height)
    inside = shift[max(0, int(box.left)) : max(1, int(box.right))]
    up, down = float(inside.max()), float(inside.min())
    grow_up, grow_down = max(0, int(up) + 1), max(0, int(-down) + 1)
    rows = np.arange(height + grow_up + grow_down, dtype=np.float32)[:, None] - grow_up
    map_y = rows + shift[None]
    lean = np.clip(slope, -0.6, 0.6)[None] * (box.bottom - map_y)
    map_x = np.arange(width, dtype=np.float32)[None] - lean * np.float32(0.8)
    bent = cv2.remap(
        layers,
        np.ascontiguousarray(map_x, np.float32),
        np.ascontiguousarray(map_y, np.float32),
        cv2.INTER_LINEAR,
        borderValue=(0, 0, 0, 128),
    ).astype(np.uint8, copy=False)
    moved = Box(box.left, box.top + grow_up - up, box.right, box.bottom + grow_up - down)
    return bent, _lean_out(bent[..., 0], moved)


def text_matrix(box: Box, warp: Warp) -> tuple[Matrix, Points]:
    """Return the matrix that lays the text flat box into the scene, and where its corners come."""
    import cv2

    flat = box.corners()
    laid = (flat - flat.mean(axis=0)).astype(np.float64)
    laid[:, 0] *= warp.squeeze
    laid[:, 0] -= laid[:, 1] * warp.slant
    angle = np.deg2rad(warp.turn)
    cosine, sine = np.cos(angle), np.sin(angle)
    laid = laid @ np.array([[cosine, sine], [-sine, cosine]])
    laid += np.array(warp.corners).reshape(4, 2) * box.height
    target = laid.astype(np.float32)
    return cv2.getPerspectiveTransform(flat, target).astype(np.float64), target


def crop_matrix(
    corners: Points, margins: tuple[float, float, float, float], height: int, widest: int
) -> tuple[Matrix, tuple[int, int]]:
    """Return the matrix from scene to picture, and the picture's width and height.

    `margins` left, top, right, bottom are parts of the text's height in the scene; negative
    ones cut into it.
    """
    left, top = corners.min(axis=0).tolist()
    right, bottom = corners.max(axis=0).tolist()
    side = float(np.linalg.norm(corners[3] - corners[0]) + np.linalg.norm(corners[2] - corners[1]))
    unit = min(bottom - top, 0.5 * side)
    left, top = left - margins[0] * unit, top - margins[1] * unit
    right, bottom = right + margins[2] * unit, bottom + margins[3] * unit
    scale = min(height / (bottom - top), widest / (right - left))
    size = max(8, round((right - left) * scale)), max(8, round((bottom - top) * scale))
    return np.array([[scale, 0, -left * scale], [0, scale, -top * scale], [0, 0, 1]]), size


def warp_layers(layers: Layers, matrix: Matrix, size: tuple[int, int]) -> Layers:
    """Bring the layers into the picture; shrinks them first where lines would be skipped."""
    import cv2

    scale = float(np.sqrt(abs(matrix[0, 0] * matrix[1, 1] - matrix[0, 1] * matrix[1, 0])))
    if scale < 0.55:
        factor = 0.5 if scale > 0.3 else 0.25
        layers = cv2.resize(  # type: ignore[assignment]  # cv2 has no narrower type
            layers, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA
        )
        matrix = matrix @ np.diag([1 / factor, 1 / factor, 1.0])
    out = cv2.warpPerspective(
        layers, matrix, size, flags=cv2.INTER_LINEAR, borderValue=(0, 0, 0, 128)
    )
    return out.astype(np.uint8, copy=False)


def move_points(points: Points, matrix: Matrix) -> Points:
    import cv2

    moved = cv2.perspectiveTransform(points[None], matrix)[0]
    return moved.astype(np.float32, copy=False)


def _lean_out(ink: Layers, box: Box) -> Box:
    """Widen the box to the ink of letters that lean over its sides."""
    rows = ink[max(0, int(box.top)) : int(box.bottom) + 1]
    filled = np.flatnonzero(rows.max(axis=0) > 100)
    if not len(filled):
        return box
    reach = 0.35 * box.height
    left = max(float(filled[0]), box.left - reach)
    right = min(float(filled[-1]) + 1, box.right + reach)
    return Box(left, box.top, right, box.bottom)
