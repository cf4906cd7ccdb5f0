"""One view: a plate in its surroundings, photographed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trainferry.train.data.render.signs.enamel import Face
from trainferry.train.data.render.signs.face import Plate
from trainferry.train.data.render.signs.photo import (
    Light,
    View,
    add_shadow,
    draw_photo,
    no_softer,
    smear,
    take_photo,
)
from trainferry.train.data.render.signs.pose import draw_pose, place_corners
from trainferry.train.data.render.signs.scenery import cut_scene, leaf_mask
from trainferry.train.data.render.words.colours import any_colour, jittered
from trainferry.train.data.render.words.dice import Dice
from trainferry.train.data.render.words.paint import Colour
from trainferry.train.data.render.words.warp import Points
from trainferry.train.data.signs.records import SIDE, noise

POSTS: tuple[Colour, ...] = (
    (165, 165, 165), (200, 200, 200), (120, 120, 122), (70, 70, 75), (120, 75, 50), (60, 80, 60),
    (225, 225, 220), (40, 40, 45), (140, 90, 60),
)  # fmt: skip


@dataclass(frozen=True)
class Place:
    """Where a plate hangs: what its views have in common."""

    scene: int
    light: Light
    post: Colour | None
    post_width: float
    shadowed: bool
    tilted: bool
    neighbour: Plate | None
    neighbour_above: bool
    least_reach: float
    least_resolution: float


LEAST_LETTER = 4.5, 7.0
"""Width and height of the letters of a legible view, in deviations of its blur."""


def take_view(plate: Plate, place: Place, dice: Dice, *, clear: bool, legible: bool) -> View:
    """Return one view of the plate, 150 x 150.

    A clear one is not much turned, covered or shaken. A legible one is clear too, and no softer
    than its letters allow.
    """
    face = plate.face
    scene = cut_scene(place.scene, SIDE, dice.between(0.55, 1.8), dice)
    tilted = place.tilted and not clear and dice.chance(0.7)
    pose = draw_pose(dice, tilted=tilted, clear=clear, least_reach=place.least_reach)
    corners = place_corners(pose, face.shape[1], face.shape[0], SIDE)
    if place.post is not None:
        _put_post(scene, corners, place, dice)
    elif place.shadowed:
        _cast_shadow(scene, corners, dice)
    put_face(scene, face, corners)
    if place.neighbour is not None:
        put_face(scene, place.neighbour.face, _beside(corners, place))
    _hang_in_front(scene, dice, clear=clear)
    if dice.chance(0.12 if clear else 0.22):
        add_shadow(scene, dice)
    if dice.chance(0.08):
        _reflect(scene, dice)
    photo = draw_photo(dice, place.light, clear=clear, least_resolution=place.least_resolution)
    if legible:
        photo = no_softer(photo, _most_blur(plate, corners))
    view = take_photo(scene, photo, dice)
    if not clear and dice.chance(0.08):
        view = smear(view, dice)
    return view


def cut_off(view: View, dice: Dice, most: int) -> None:
    """Fill a strip with noise, as where the photograph ended before the view did."""
    wide = dice.whole(3, most)
    kind = dice.fraction()
    if kind < 0.4:
        view[:, :wide] = noise(SIDE, wide, dice.generator)
    elif kind < 0.8:
        view[:, SIDE - wide :] = noise(SIDE, wide, dice.generator)
    else:
        wide = min(wide, 20)
        view[SIDE - wide :] = noise(wide, SIDE, dice.generator)


def _most_blur(plate: Plate, corners: Points) -> float:
    """Return how much blur the letters bear where the plate is farthest away, in pixels."""
    height, width = plate.face.shape[:2]
    sides = np.linalg.norm(corners - np.roll(corners, -1, axis=0), axis=1).tolist()
    wide = plate.letter[0] * min(sides[0], sides[2]) / width
    high = plate.letter[1] * min(sides[1], sides[3]) / height
    return float(min(wide / LEAST_LETTER[0], high / LEAST_LETTER[1]))


def put_face(scene: View, face: Face, corners: Points) -> None:
    """Lay a face into the picture; of one that hangs outside of it, as a neighbour may, nothing."""
    import cv2

    height, width = face.shape[:2]
    area = 0.5 * abs(float(_cross(corners[2] - corners[0], corners[3] - corners[1])))
    shrink = (area / (height * width)) ** 0.5
    if shrink < 0.6:  # half of it is still fine enough, and nothing between is skipped
        size = width // 2, height // 2
        face = cv2.resize(face, size, interpolation=cv2.INTER_AREA).astype(np.uint8, copy=False)
        height, width = face.shape[:2]
    flat = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32) - 0.5
    matrix = cv2.getPerspectiveTransform(flat, corners)
    seen = cv2.warpPerspective(face, matrix, (SIDE, SIDE), flags=cv2.INTER_LINEAR)
    left, top = np.maximum(0, np.floor(corners.min(axis=0)) - 1).astype(int).tolist()
    right, bottom = np.minimum(SIDE, np.ceil(corners.max(axis=0)) + 2).astype(int).tolist()
    if left >= right or top >= bottom:
        return
    part, over = scene[top:bottom, left:right], seen[top:bottom, left:right]
    uncovered = cv2.cvtColor(255 - over[..., 3], cv2.COLOR_GRAY2RGB)
    left = cv2.multiply(part, uncovered, scale=1 / 255)
    cv2.add(left, cv2.cvtColor(over, cv2.COLOR_RGBA2RGB), dst=part)


def _put_post(scene: View, corners: Points, place: Place, dice: Dice) -> None:
    import cv2

    assert place.post is not None
    middle = corners.mean(axis=0)
    wide = place.post_width * float(np.linalg.norm(corners[1] - corners[0]))
    lean = dice.bell(0.04) * SIDE
    x = float(middle[0]) + dice.bell(0.04) * SIDE
    top = 0.0 if dice.chance(0.45) else float(corners[:2, 1].min()) - dice.low_between(-4, 22)
    shades = (0.75, 1.05, 0.9, 0.6)
    for part, shade in enumerate(shades):
        start = x - wide / 2 + wide * part / len(shades)
        end = start + wide / len(shades) + 0.5
        points = [(start + lean, top), (end + lean, top), (end - lean, SIDE), (start - lean, SIDE)]
        colour = tuple(min(255.0, value * shade) for value in place.post)
        cv2.fillPoly(scene, [np.round(np.array(points) * 8).astype(np.int32)], colour, 8, 3)


def _cast_shadow(scene: View, corners: Points, dice: Dice) -> None:
    import cv2

    shift = np.array([dice.between(-5, 5), dice.between(1, 6)], np.float32)
    mask = np.zeros((SIDE, SIDE), np.uint8)
    cv2.fillPoly(mask, [np.round((corners + shift) * 8).astype(np.int32)], 255, 8, 3)
    mask = cv2.blur(mask, (5, 5)).astype(np.uint8, copy=False)
    factor = 1 - mask.astype(np.float32) * np.float32(dice.between(0.3, 0.65) / 255)
    np.multiply(scene, factor[..., None], out=scene, casting="unsafe")


def _beside(corners: Points, place: Place) -> Points:
    """Return the place of a second plate over or under the first."""
    down = (corners[3] - corners[0] + corners[2] - corners[1]) / 2 * np.float32(1.06)
    return (corners - down if place.neighbour_above else corners + down).astype(np.float32)


def _hang_in_front(scene: View, dice: Dice, *, clear: bool) -> None:
    import cv2

    if dice.chance(0.03):
        x, end = dice.whole(0, SIDE), dice.whole(0, SIDE)
        colour = jittered((150, 145, 140), 60, dice)
        cv2.line(scene, (x, 0), (end, SIDE), colour, dice.whole(1, 2), cv2.LINE_AA)
    if clear:
        return
    if dice.chance(0.05):
        leaves = jittered((80, 100, 50), 30, dice)
        share = leaf_mask(SIDE, dice.between(0.08, 0.3), dice)[..., None]
        ramp = np.linspace(0, 1, SIDE, dtype=np.float32)[:, None, None]
        share = share * (ramp if dice.chance(0.5) else ramp[::-1])
        scene[:] = scene + (np.asarray(leaves, np.float32) - scene) * share
    if dice.chance(0.04):
        wide, high = dice.whole(14, 45), dice.whole(20, 80)
        left = dice.pick((dice.whole(-10, 35), dice.whole(100, 140)))
        top = dice.whole(10, 100)
        colour = jittered((170, 165, 160), 50, dice) if dice.chance(0.6) else any_colour(dice)
        cv2.rectangle(scene, (left, top), (left + wide, top + high), colour, -1)
        edge = jittered((60, 60, 60), 30, dice)
        cv2.rectangle(scene, (left, top), (left + wide, top + high), edge, 1)


def _reflect(scene: View, dice: Dice) -> None:
    """Lay the sky's or the wall's light over a part of the plate."""
    ramp = np.linspace(1, -1.2, SIDE, dtype=np.float32)
    share = np.clip(ramp + np.float32(dice.bell(0.3)), 0, 1) * np.float32(dice.between(0.2, 0.6))
    share = share[:, None, None] if dice.chance(0.7) else share[None, :, None]
    light = np.asarray(jittered((150, 155, 160), 40, dice), np.float32)
    scene[:] = scene + (light - scene) * share


def _cross(first: npt.NDArray[np.float32], second: npt.NDArray[np.float32]) -> float:
    return float(first[0] * second[1] - first[1] * second[0])
