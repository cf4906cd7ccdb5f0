"""Faces of plates in the picture, and outside of it."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("cv2")

from trainferry.train.data.render.signs.view import put_face
from trainferry.train.data.signs.example import SIDE

CORNERS = np.array([[10, 20], [90, 20], [90, 60], [10, 60]], np.float32)


@pytest.mark.parametrize("shift", [(-200, 0), (200, 0), (0, -200), (0, 200), (SIDE - 8, 0)])
def test_a_face_outside_of_the_picture_leaves_it_as_it_was(shift: tuple[int, int]) -> None:
    scene = np.full((SIDE, SIDE, 3), 40, np.uint8)
    put_face(scene, np.full((40, 80, 4), 255, np.uint8), CORNERS + np.array(shift, np.float32))
    assert (scene == 40).all()


def test_a_face_is_seen_as_far_as_it_is_inside() -> None:
    scene = np.full((SIDE, SIDE, 3), 40, np.uint8)
    put_face(scene, np.full((40, 80, 4), 255, np.uint8), CORNERS - np.array([50, 0], np.float32))
    assert (scene[30:50, :30] == 255).all()
    assert (scene[:, 60:] == 40).all()
