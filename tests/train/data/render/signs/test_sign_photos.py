"""Quicker ways to the same pixels: each is compared with the plain one that it stands for."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from trainferry.train.data.render.signs import photo
from trainferry.train.data.render.signs.planes import (
    Planes,
    as_outline,
    draw_line,
    draw_outline,
    fill_circle,
    fill_ellipse,
    fill_shape,
    lay_on,
)
from trainferry.train.data.signs.example import SIDE

cv2 = pytest.importorskip("cv2")

COLOUR = (200.0, 90.5, 3.25)
OUTLINE = as_outline([(5.3, 4.0), (50.0, 9.6), (41.2, 33.1)])


def scene() -> photo.View:
    values = np.random.default_rng(3).integers(0, 256, (SIDE, SIDE, 3), np.uint8)
    return np.asarray(cv2.GaussianBlur(values, (0, 0), 1.5), np.uint8)


def share() -> npt.NDArray[np.float32]:
    return np.random.default_rng(4).random((SIDE, SIDE)).astype(np.float32)


@pytest.mark.parametrize("side", [36, 50, 61, 75, 90, 111, 145, SIDE])
def test_a_view_is_exposed_and_shrunk_as_bytes_are(side: int) -> None:
    table = np.random.default_rng(side).integers(0, 256, (3, 256), np.uint8)
    exposed = np.stack([row[scene()[..., colour]] for colour, row in enumerate(table)], axis=-1)
    expected = cv2.resize(exposed, (side, side), interpolation=cv2.INTER_AREA)
    assert (photo._exposed(scene(), table, side) == expected).all()


def test_a_shadow_takes_its_part_of_every_colour() -> None:
    shaded = scene()
    photo.shade(shaded, share())
    assert (shaded == (scene() * share()[..., None]).astype(np.uint8)).all()


def test_a_box_of_a_view_can_be_shaded() -> None:
    shaded = scene()
    photo.shade(shaded[10:40, 20:90], np.zeros((30, 70), np.float32))
    assert (shaded[10:40, 20:90] == 0).all()
    shaded[10:40, 20:90] = scene()[10:40, 20:90]
    assert (shaded == scene()).all()


def test_a_colour_lies_over_a_view_by_the_share_of_each_pixel() -> None:
    covered = scene()
    photo.lay_over(covered, COLOUR, share())
    expected = scene() + (np.asarray(COLOUR, np.float32) - scene()) * share()[..., None]
    assert (covered == expected.astype(np.uint8)).all()


def test_shapes_on_planes_are_those_on_a_picture() -> None:
    face: Planes = np.full((3, 40, 60), 7, np.float32)
    picture = np.full((40, 60, 3), 7, np.float32)
    fill_shape(face, OUTLINE, COLOUR)
    cv2.fillPoly(picture, [OUTLINE], COLOUR, cv2.LINE_AA, 3)
    draw_outline(face, OUTLINE, (1, 2, 3), 3)
    cv2.polylines(picture, [OUTLINE], True, (1, 2, 3), 3, cv2.LINE_AA, 3)
    draw_line(face, (0, 30), (59, 12), COLOUR, 2)
    cv2.line(picture, (0, 30), (59, 12), COLOUR, 2, cv2.LINE_AA)
    fill_ellipse(face, (40, 20), (9, 4), 30.0, (9, 8, 7))
    cv2.ellipse(picture, (40, 20), (9, 4), 30.0, 0, 360, (9, 8, 7), -1, cv2.LINE_AA)
    fill_circle(face, (10, 30), 4, (40, 50, 60))
    cv2.circle(picture, (10, 30), 4, (40, 50, 60), -1, cv2.LINE_AA)
    assert (face.transpose(1, 2, 0) == picture).all()


def test_a_colour_lies_on_planes_by_the_share_of_each_pixel() -> None:
    face: Planes = np.full((3, SIDE, SIDE), 7, np.float32)
    lay_on(face, COLOUR, share())
    for plane, part in zip(face, COLOUR, strict=True):
        assert (plane == 7 + (np.float32(part) - 7) * share()).all()
