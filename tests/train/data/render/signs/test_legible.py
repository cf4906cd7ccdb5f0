"""What may hide a name, and what may not: at least one view of every sign can be read."""

from __future__ import annotations

import numpy as np
import pytest

from trainferry.train.data.render.signs.face import Lettering, Plate, draw_plate
from trainferry.train.data.render.signs.fonts import plate_fonts
from trainferry.train.data.render.signs.photo import draw_light, draw_photo, no_softer
from trainferry.train.data.render.signs.streets import parse_street
from trainferry.train.data.render.signs.wording import write_out
from trainferry.train.data.render.words.dice import Dice
from trainferry.train.data.render.words.fonts import open_typeface

pytest.importorskip("cv2")


def plate(name: str, index: int) -> Plate:
    dice = Dice(0, "val", index)
    wording = write_out(parse_street(name), dice)
    typeface = open_typeface(plate_fonts("val")[0].path)
    lines = tuple(typeface for _ in wording.lines)
    return draw_plate(wording, Lettering(lines, typeface, "condensed", varied=False), dice)


def test_a_photograph_gets_no_softer_than_its_letters_allow() -> None:
    for index in range(50):
        dice = Dice(0, "val", index)
        photo = draw_photo(dice, draw_light(dice), clear=True, least_resolution=0.4)
        sharp = no_softer(photo, 1.0)
        assert np.hypot(sharp.defocus, 0.45 / sharp.resolution) <= 1.0 + 1e-9
        assert sharp.resolution <= 1
    assert no_softer(photo, 100.0) == photo


def test_longer_names_have_smaller_letters() -> None:
    short = np.median([plate("Rue Zola", index).letter[0] for index in range(30)])
    long = np.median([plate("Rue Villefranchemont", index).letter[0] for index in range(30)])
    assert long < 0.7 * short


def test_a_plate_covers_itself_wholly_but_for_its_corners() -> None:
    for index in range(10):
        face = plate("Rue Zola", index).face
        height, width = face.shape[:2]
        assert face[height // 2, width // 2, 3] == 255
        assert face[face[..., 3] == 0].max(initial=0) == 0
