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
    yaw, pitch, roll = (math.radians(angle) for angle in (pose.yaw, pose.pitch, pose.roll))
    points = []
    # Four points are sooner turned one by one than as arrays.
    for x, y in ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)):
        across, deep = x * math.cos(yaw), x * math.sin(yaw)
        flat = y * height / width
        down = flat * math.cos(pitch) - deep * math.sin(pitch)
        deep = flat * math.sin(pitch) + deep * math.cos(pitch)
        near = 1 / (1 + deep / (2 * pose.distance))
        across, down = across * near, down * near
        points.append(
            (
                across * math.cos(roll) - down * math.sin(roll),
                across * math.sin(roll) + down * math.cos(roll),
            )
        )
    wide, high = ([point[axis] for point in points] for axis in (0, 1))
    scale = pose.reach * size / max(max(wide) - min(wide), max(high) - min(high))
    left = (0.5 + pose.across) * size - (max(wide) + min(wide)) / 2 * scale
    top = (0.5 + pose.down) * size - (max(high) + min(high)) / 2 * scale
    return np.array([(left + x * scale, top + y * scale) for x, y in points], np.float32)
