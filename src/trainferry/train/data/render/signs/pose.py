"""Where a plate stands before the camera: turned, tilted, nearer or farther."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from trainferry.train.data.render.words.dice import Dice
from trainferry.train.data.render.words.warp import Points


@dataclass(frozen=True)
class Pose:
    """Angles in degrees; `reach` is the part of the view that the plate takes up."""

    yaw: float
    pitch: float
    roll: float
    distance: float
    reach: float
    across: float
    down: float


def draw_pose(dice: Dice, *, tilted: bool, clear: bool, least_reach: float) -> Pose:
    """Draw a pose; a clear one is nearly straight and large enough to be read."""
    yaw = dice.bell(14 if clear else 28)
    roll = dice.bell(2.5) if dice.chance(0.75) else dice.bell(8)
    if tilted:
        roll = dice.between(24, 48) * (1 if dice.chance(0.5) else -1)
    reach = dice.between(max(0.6, least_reach), 0.86) if clear else dice.between(0.5, 0.92)
    if not clear and dice.chance(0.05):
        reach = dice.between(0.92, 1.06)
    return Pose(
        yaw=max(-64.0, min(64.0, yaw)),
        pitch=dice.bell(9),
        roll=roll,
        distance=dice.between(1.6, 5.0),
        reach=reach,
        across=dice.bell(0.035),
        down=dice.bell(0.05),
    )


def place_corners(pose: Pose, width: float, height: float, size: int) -> Points:
    """Return where the corners of a plate come in a square view, clockwise from top left."""
    yaw_cos, yaw_sin = _cos_and_sin(pose.yaw)
    pitch_cos, pitch_sin = _cos_and_sin(pose.pitch)
    roll_cos, roll_sin = _cos_and_sin(pose.roll)
    wide, high = [], []
    # Four points are sooner turned one by one than as arrays.
    for x, y in ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)):
        across, deep = x * yaw_cos, x * yaw_sin
        flat = y * height / width
        down = flat * pitch_cos - deep * pitch_sin
        deep = flat * pitch_sin + deep * pitch_cos
        near = 1 / (1 + deep / (2 * pose.distance))
        across, down = across * near, down * near
        wide.append(across * roll_cos - down * roll_sin)
        high.append(across * roll_sin + down * roll_cos)
    left, right, top, bottom = min(wide), max(wide), min(high), max(high)
    scale = pose.reach * size / max(right - left, bottom - top)
    start = (0.5 + pose.across) * size - (right + left) / 2 * scale
    upper = (0.5 + pose.down) * size - (bottom + top) / 2 * scale
    return np.array(
        [(start + x * scale, upper + y * scale) for x, y in zip(wide, high, strict=True)],
        np.float32,
    )


def _cos_and_sin(degrees: float) -> tuple[float, float]:
    angle = math.radians(degrees)
    return math.cos(angle), math.sin(angle)
