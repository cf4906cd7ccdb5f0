"""One sample: a name, its plate, and up to four views of it side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from trainferry.errors import DataError
from trainferry.train.data.render.signs.face import Lettering, Plate, draw_plate
from trainferry.train.data.render.signs.lettering import can_write
from trainferry.train.data.render.signs.photo import draw_light
from trainferry.train.data.render.signs.scenery import SCENES
from trainferry.train.data.render.signs.streets import Streets
from trainferry.train.data.render.signs.view import POSTS, Place, cut_off, take_view
from trainferry.train.data.render.signs.wording import Wording, write_out
from trainferry.train.data.render.words.dice import Dice
from trainferry.train.data.render.words.fonts import Font, Typeface, open_typeface
from trainferry.train.data.signs.example import SIDE, VIEWS
from trainferry.train.data.signs.views import noise

_PRESENT = (4, 3, 2, 1)
_PRESENT_SUMS = tuple(accumulate((0.8, 0.05, 0.08, 0.07)))
_OTHER_PLATE, _OTHER_PLATE_TO_LEARN = 0.04, 0.1  # chance of any view, unless it is the best one
_TRIES = 200
_TWO_FONTS = 0.2


@dataclass(frozen=True)
class Sign:
    """A finished sample: views side by side, how many are not noise, its text and font."""

    picture: npt.NDArray[np.uint8]
    present: int
    text: str
    font: str


class Composer:
    """Draws the sample number `index` of a split: the same for the same seed, whoever asks."""

    def __init__(self, seed: int, split: str, streets: Streets, fonts: Sequence[Font]) -> None:
        self._seed = seed
        self._split = split
        self._streets = streets
        self._varied = split == "train"
        self._fonts = tuple(fonts)
        self._sums = list(accumulate(font.weight for font in fonts))

    def compose(self, index: int) -> Sign:
        dice = Dice(self._seed, self._split, index)
        wording, font, plate = self._draw_plate(dice)
        place = self._draw_place(wording, dice)
        present = dice.pick_weighted(_PRESENT, _PRESENT_SUMS)
        best = dice.whole(0, present - 1)
        other_plate = _OTHER_PLATE_TO_LEARN if self._varied else _OTHER_PLATE
        wrong = dice.whole(0, present - 1) if present > 1 and dice.chance(other_plate) else best
        if present == 2:  # of two views with two names, nobody could tell which is meant
            wrong = best
        picture = np.empty((SIDE, SIDE * VIEWS, 3), np.uint8)
        for number in range(VIEWS):
            columns = slice(number * SIDE, (number + 1) * SIDE)
            if number >= present:
                picture[:, columns] = noise(SIDE, SIDE, dice.generator)
                continue
            clear = number == best or dice.chance(0.3)
            shown = self._draw_plate(dice)[2] if number == wrong != best else plate
            view = take_view(shown, place, dice, clear=clear, legible=number == best)
            if dice.chance(0.09):
                cut_off(view, dice, most=10 if number == best else 38)
            picture[:, columns] = view
        return Sign(picture, present, wording.text, font.name)

    def _draw_plate(self, dice: Dice) -> tuple[Wording, Font, Plate]:
        """Draw a name and a font that has its letters."""
        for _ in range(_TRIES):
            wording = write_out(self._streets.draw(dice), dice)
            font = dice.pick_weighted(self._fonts, self._sums)
            typeface = open_typeface(font.path, font.face)
            if all(can_write(line.runs, typeface) for line in wording.lines):
                lettering = self._draw_lettering(wording, typeface, font, dice)
                return wording, font, draw_plate(wording, lettering, dice)
        raise DataError(
            "no font has the letters of the names",
            hint="add a font with the accents of French, or leave the bundled fonts",
        )

    def _draw_lettering(
        self, wording: Wording, typeface: Typeface, font: Font, dice: Dice
    ) -> Lettering:
        """Letter all lines in one font, some plates for training the upper ones in another."""
        count = len(wording.lines)
        upper = typeface
        if self._varied and count > 1 and dice.chance(_TWO_FONTS):
            chosen = dice.pick_weighted(self._fonts, self._sums)
            other = open_typeface(chosen.path, chosen.face)
            if all(can_write(line.runs, other) for line in wording.lines[:-1]):
                upper = other
        lines = (*(upper for _ in range(count - 1)), typeface)
        return Lettering(lines, typeface, font.style, self._varied)

    def _draw_place(self, wording: Wording, dice: Dice) -> Place:
        on_wall = dice.chance(0.5)
        longest = max(line.length for line in wording.lines)
        neighbour = self._draw_plate(dice)[2] if dice.chance(0.05) else None
        return Place(
            scene=2 * dice.whole(0, SCENES // 2 - 1) + (0 if on_wall else 1),
            light=draw_light(dice),
            post=None if on_wall else dice.pick(POSTS),
            post_width=dice.low_between(0.06, 0.4),
            shadowed=dice.chance(0.5),
            tilted=dice.chance(0.08),
            neighbour=neighbour,
            neighbour_above=dice.chance(0.6),
            least_reach=min(0.84, 0.45 + 0.022 * longest),
            least_resolution=min(0.85, 0.36 + 0.022 * longest),
        )
