"""Colours of signs: which ink stands on which ground, from strong contrast to weak."""

from __future__ import annotations

import colorsys

from trainferry.train.data.render.words.dice import Dice
from trainferry.train.data.render.words.paint import Colour

_SIGN_HUES = (0.0, 0.0, 0.01, 0.58, 0.6, 0.62, 0.64, 0.38, 0.33, 0.12, 0.14, 0.07, 0.8, 0.95, 0.5)
_LIGHT: tuple[Colour, ...] = ((250, 250, 248), (245, 238, 215), (255, 225, 70), (235, 235, 240))
_DARK: tuple[Colour, ...] = ((15, 15, 18), (25, 25, 60), (50, 20, 18), (20, 45, 30))
_WALLS: tuple[Colour, ...] = (
    (150, 75, 60),
    (185, 165, 135),
    (128, 128, 125),
    (95, 80, 65),
    (200, 195, 185),
    (70, 75, 80),
    (160, 150, 130),
    (110, 105, 95),
)


def draw_pair(dice: Dice, least: float) -> tuple[Colour, Colour, str]:
    """Return ink, ground and kind of the pair; they differ by at least `least`."""
    for _ in range(20):
        ink, ground, kind = _draw_pair(dice)
        if difference(ink, ground) >= least:
            return ink, ground, kind
    pair = _LIGHT[0], _DARK[0]
    return (*(pair if dice.chance(0.5) else pair[::-1]), "print")


def difference(first: Colour, second: Colour) -> float:
    """Return how far apart two colours look: brightness counts most, hue some."""
    red, green, blue = (a - b for a, b in zip(first, second, strict=True))
    bright = 0.3 * red + 0.59 * green + 0.11 * blue
    hue = max(abs(red - bright), abs(green - bright), abs(blue - bright))
    return abs(bright) + 0.3 * hue


def jittered(colour: Colour, spread: float, dice: Dice) -> Colour:
    common = dice.bell(spread)
    red, green, blue = (
        min(255.0, max(0.0, part + common + dice.bell(spread / 3))) for part in colour
    )
    return red, green, blue


def any_colour(dice: Dice) -> Colour:
    value = dice.fraction() ** 0.8
    return _from_hsv(dice.fraction(), dice.fraction() ** 1.3, value)


def _draw_pair(dice: Dice) -> tuple[Colour, Colour, str]:
    kind = dice.pick_weighted(tuple(_PAIRS), _PAIR_SUMS)
    return (*_PAIRS[kind](dice), kind)


def _sign(dice: Dice) -> tuple[Colour, Colour]:
    board = _from_hsv(dice.pick(_SIGN_HUES), dice.between(0.5, 1), dice.between(0.25, 0.95))
    letter = dice.pick(_LIGHT if dice.chance(0.8) else _DARK)
    ink, ground = (letter, board) if dice.chance(0.65) else (board, letter)
    return jittered(ink, 12, dice), jittered(ground, 12, dice)


def _print(dice: Dice) -> tuple[Colour, Colour]:
    paper = jittered(dice.pick(_LIGHT), 18, dice)
    letter = jittered(dice.pick(_DARK), 18, dice) if dice.chance(0.6) else any_colour(dice)
    return (letter, paper) if dice.chance(0.72) else (paper, letter)


def _night(dice: Dice) -> tuple[Colour, Colour]:
    return jittered(any_colour(dice), 10, dice), jittered(dice.pick(_DARK), 22, dice)


def _wall(dice: Dice) -> tuple[Colour, Colour]:
    wall = jittered(dice.pick(_WALLS), 30, dice)
    if dice.chance(0.45):
        return any_colour(dice), wall
    shift = dice.between(26, 110) * dice.pick((-1, 1))
    red, green, blue = (min(255.0, max(0.0, part + shift)) for part in wall)
    return jittered((red, green, blue), 9, dice), wall


def _any(dice: Dice) -> tuple[Colour, Colour]:
    return any_colour(dice), any_colour(dice)


_PAIRS = {"sign": _sign, "print": _print, "night": _night, "wall": _wall, "any": _any}
_PAIR_SUMS = (0.27, 0.47, 0.58, 0.82, 1.0)


def _from_hsv(hue: float, saturation: float, value: float) -> Colour:
    red, green, blue = colorsys.hsv_to_rgb(hue, saturation, value)
    return red * 255, green * 255, blue * 255
