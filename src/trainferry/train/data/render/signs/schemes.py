"""Colours and shapes of plates: mostly blue enamel with a white line, and the others one meets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from trainferry.train.data.render.words.colours import difference, jittered
from trainferry.train.data.render.words.dice import Dice
from trainferry.train.data.render.words.paint import Colour

LEAST_CONTRAST = 75.0
"""Letters differ at least so much from their ground, before weather and camera."""

_FRAME = 0.09

Border = Literal["none", "line", "notched", "cut", "double", "frame"]


@dataclass(frozen=True)
class Scheme:
    """The look of a plate; lengths in parts of its height."""

    ground: Colour
    ink: Colour
    border: Border
    border_width: float
    inset: float
    corner: float
    rim: Colour | None
    frame: Colour
    engraved: bool = False

    @property
    def edge(self) -> float:
        """Return how far the border reaches into the plate."""
        if self.border == "none":
            return 0.0
        return _FRAME if self.border == "frame" else self.inset + self.border_width / 2


def draw_scheme(dice: Dice) -> Scheme:
    kind = dice.pick_weighted(_KINDS, _KIND_SUMS)
    ground, ink = _COLOURS[kind](dice)
    while difference(ground, ink) < LEAST_CONTRAST:
        ground, ink = _COLOURS[kind](dice)
    border: Border = dice.pick_weighted(_BORDERS, _BORDER_SUMS)
    if kind == "stone" or (kind in ("white", "dark") and dice.chance(0.4)):
        border = "none"
    if kind == "paris":
        border = "frame"
    return Scheme(
        ground=ground,
        ink=ink,
        border=border,
        border_width=dice.between(0.012, 0.035),
        inset=dice.between(0.025, 0.075),
        corner=dice.low_between(0.0, 0.16) if dice.chance(0.75) else 0.0,
        rim=_rim(dice, ground) if dice.chance(0.35) else None,
        frame=jittered((45, 75, 50), 20, dice) if kind == "paris" else ink,
        engraved=kind == "stone",
    )


def _rim(dice: Dice, ground: Colour) -> Colour:
    if dice.chance(0.5):
        grey = dice.between(120, 235)
        return jittered((grey, grey, grey), 8, dice)
    factor = dice.between(0.4, 0.8)
    return ground[0] * factor, ground[1] * factor, ground[2] * factor


def _white(dice: Dice) -> Colour:
    white = dice.between(170, 252)
    yellow = dice.low_between(0, 30)
    return white, white - yellow * 0.3, white - yellow


def _navy(dice: Dice) -> tuple[Colour, Colour]:
    bright = math.exp(dice.bell(0.3))
    base = dice.pick(((18, 28, 110), (15, 25, 75), (25, 40, 140), (20, 22, 60), (30, 30, 130)))
    return jittered(_times(base, bright), 10, dice), _white(dice)


def _blue(dice: Dice) -> tuple[Colour, Colour]:
    base = dice.pick(((30, 70, 165), (20, 85, 175), (45, 85, 160), (15, 50, 125), (35, 55, 150)))
    return jittered(_times(base, math.exp(dice.bell(0.2)) * 0.92), 12, dice), _white(dice)


def _faded(dice: Dice) -> tuple[Colour, Colour]:
    base = dice.pick(((85, 120, 165), (70, 95, 130), (95, 125, 175), (60, 90, 120)))
    return jittered(base, 16, dice), _white(dice)


def _green(dice: Dice) -> tuple[Colour, Colour]:
    base = dice.pick(((40, 130, 50), (20, 90, 60), (30, 100, 105), (20, 60, 45), (60, 140, 60)))
    return jittered(base, 16, dice), _white(dice)


def _brown(dice: Dice) -> tuple[Colour, Colour]:
    base = dice.pick(((105, 50, 45), (95, 30, 45), (120, 75, 55), (75, 45, 35), (140, 30, 40)))
    ink = _white(dice) if dice.chance(0.8) else jittered((235, 215, 150), 12, dice)
    return jittered(base, 14, dice), ink


def _light(dice: Dice) -> tuple[Colour, Colour]:
    ink = dice.pick(((20, 30, 110), (20, 20, 25), (25, 60, 150), (90, 30, 30), (20, 80, 50)))
    ground = _white(dice) if dice.chance(0.75) else jittered((235, 220, 180), 14, dice)
    return ground, jittered(ink, 14, dice)


def _stone(dice: Dice) -> tuple[Colour, Colour]:
    base = jittered(dice.pick(((190, 180, 155), (165, 160, 150), (205, 200, 190))), 20, dice)
    if dice.chance(0.3):
        return base, jittered((90, 30, 25), 15, dice)
    factor = dice.between(0.2, 0.55)
    return base, _times(base, factor)


def _dark(dice: Dice) -> tuple[Colour, Colour]:
    base = dice.pick(((25, 25, 30), (45, 45, 50), (70, 70, 75), (60, 25, 30)))
    return jittered(base, 12, dice), _white(dice)


def _times(colour: Colour, factor: float) -> Colour:
    return colour[0] * factor, colour[1] * factor, colour[2] * factor


_COLOURS = {
    "navy": _navy,
    "blue": _blue,
    "faded": _faded,
    "paris": _blue,
    "green": _green,
    "brown": _brown,
    "white": _light,
    "stone": _stone,
    "dark": _dark,
}
_KINDS = tuple(_COLOURS)
_KIND_SUMS = tuple(accumulate((0.4, 0.29, 0.06, 0.05, 0.06, 0.06, 0.045, 0.01, 0.025)))
_BORDERS: tuple[Border, ...] = ("line", "notched", "cut", "double", "none")
_BORDER_SUMS = tuple(accumulate((0.36, 0.34, 0.12, 0.04, 0.14)))
