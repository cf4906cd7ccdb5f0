"""One view: a plate in its surroundings, photographed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from trainferry.train.data.render.signs.enamel import Face
from trainferry.train.data.render.signs.face import Plate
from trainferry.train.data.render.signs.photo import (
    Light,
    View,
    add_shadow,
    draw_photo,
    lay_over,
    no_softer,
    shade,
    smear,
    take_photo,
)
from trainferry.train.data.render.signs.planes import as_outline
from trainferry.train.data.render.signs.pose import draw_pose, place_corners
from trainferry.train.data.render.signs.scenery import cut_scene, leaf_mask
from trainferry.train.data.render.words.colours import any_colour, jittered
from trainferry.train.data.render.words.dice import Dice
from trainferry.train.data.render.words.paint import Colour
from trainferry.train.data.render.words.warp import Points
from trainferry.train.data.signs.example import SIDE
from trainferry.train.data.signs.views import noise

POSTS: tuple[Colour, ...] = (
    (165, 165, 165), (200, 200, 200), (120, 120, 122), (70, 70, 75), (120, 75, 50), (60, 80, 60),
    (225, 225, 220), (40, 40, 45), (140, 90, 60),
)  # fmt: skip
_POST_TONES = (0.75, 1.05, 0.9, 0.6)
"""How bright a post is from its left to its right side."""


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
    scene = cut_scene(place.scene, SIDE, dice.between(0.55, 1.8), dice)
    tilted = place.tilted and not clear and dice.chance(0.7)
    pose = draw_pose(dice, tilted=tilted, clear=clear, least_reach=place.least_reach)
    height, width = plate.face.shape[:2]
    corners = place_corners(pose, width, height, SIDE)
    if place.post is not None:
        _put_post(scene, corners, place, dice)
    elif place.shadowed:
        _cast_shadow(scene, corners, dice)
    put_face(scene, _fit_face(plate, corners), corners)
    if place.neighbour is not None:
        beside = _beside(corners, place)
        put_face(scene, _fit_face(place.neighbour, beside), beside)
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
    edges = corners - corners[[1, 2, 3, 0]]
    sides = np.sqrt((edges * edges).sum(axis=1)).tolist()
    wide = plate.letter[0] * min(sides[0], sides[2]) / width
    high = plate.letter[1] * min(sides[1], sides[3]) / height
    return float(min(wide / LEAST_LETTER[0], high / LEAST_LETTER[1]))


def _fit_face(plate: Plate, corners: Points) -> Face:
    """Return the face, or its half where that is fine enough: then no pixel of it is skipped."""
    height, width = plate.face.shape[:2]
    first, second = corners[2:] - corners[:2]
    parts = first * second[::-1]
    area = 0.5 * abs(float(parts[0] - parts[1]))
    return plate.half if (area / (height * width)) ** 0.5 < 0.6 else plate.face


def put_face(scene: View, face: Face, corners: Points) -> None:
    """Lay a face into the picture; of one that hangs outside of it, as a neighbour may, nothing."""
    import cv2

    box = _box_around(corners, margin=1)
    if box is None:
        return
    height, width = face.shape[:2]
    left, top, right, bottom = -0.5, -0.5, width - 0.5, height - 0.5
    flat = np.array([(left, top), (right, top), (right, bottom), (left, bottom)], np.float32)
    matrix = cv2.getPerspectiveTransform(flat, corners)
    size = SIDE, box[0].stop  # a narrower picture would not be the same to the last bit
    seen = cv2.warpPerspective(face, matrix, size, flags=cv2.INTER_LINEAR)
    part, over = scene[box], seen[box]
    uncovered = cv2.bitwise_not(cv2.extractChannel(over, 3))
    behind = cv2.multiply(part, cv2.cvtColor(uncovered, cv2.COLOR_GRAY2RGB), scale=1 / 255)
    cv2.add(behind, cv2.cvtColor(over, cv2.COLOR_RGBA2RGB), dst=part)


def _put_post(scene: View, corners: Points, place: Place, dice: Dice) -> None:
    import cv2

    assert place.post is not None
    across = corners[1] - corners[0]
    wide = place.post_width * float(np.sqrt(across.dot(across)))
    lean = dice.bell(0.04) * SIDE
    x = float(corners[:, 0].sum()) / 4 + dice.bell(0.04) * SIDE
    top = 0.0 if dice.chance(0.45) else float(corners[:2, 1].min()) - dice.low_between(-4, 22)
    stripes = []
    for part in range(len(_POST_TONES)):
        start = x - wide / 2 + wide * part / len(_POST_TONES)
        end = start + wide / len(_POST_TONES) + 0.5
        stripes.append(
            ((start + lean, top), (end + lean, top), (end - lean, SIDE), (start - lean, SIDE))
        )
    for stripe, tone in zip(as_outline(stripes), _POST_TONES, strict=True):
        colour = tuple(min(255.0, value * tone) for value in place.post)
        cv2.fillPoly(scene, [stripe], colour, 8, 3)


def _cast_shadow(scene: View, corners: Points, dice: Dice) -> None:
    import cv2

    shift = np.array([dice.between(-5, 5), dice.between(1, 6)], np.float32)
    mask = np.zeros((SIDE, SIDE), np.uint8)
    cv2.fillPoly(mask, [as_outline(corners + shift)], 255, 8, 3)
    mask = cv2.blur(mask, (5, 5)).astype(np.uint8, copy=False)
    strength = np.float32(dice.between(0.3, 0.65) / 255)
    box = _box_around(corners + shift, margin=4)
    if box is not None:
        shade(scene[box], 1 - mask[box].astype(np.float32) * strength)


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
        share = leaf_mask(SIDE, dice.between(0.08, 0.3), dice)
        ramp = np.linspace(0, 1, SIDE, dtype=np.float32)[:, None]
        lay_over(scene, leaves, share * (ramp if dice.chance(0.5) else ramp[::-1]))
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
    share = share[:, None] if dice.chance(0.7) else share[None]
    light = jittered((150, 155, 160), 40, dice)
    lay_over(scene, light, np.broadcast_to(share, (SIDE, SIDE)).copy())


def _box_around(corners: Points, margin: int) -> tuple[slice, slice] | None:
    """Return the rows and columns of a view around the corners, None if all are outside of it."""
    across, down = corners.T.tolist()
    left, top = (max(0, math.floor(min(values)) - margin) for values in (across, down))
    right, bottom = (min(SIDE, math.ceil(max(values)) + margin + 1) for values in (across, down))
    return (slice(top, bottom), slice(left, right)) if left < right and top < bottom else None
