"""What a plate shows beside its name: arms, town, district, dates, dirt, rust and stickers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trainferry.train.data.render.signs.lettering import Run, Setting, can_write, set_line
from trainferry.train.data.render.signs.naming import draw_town
from trainferry.train.data.render.signs.planes import (
    Planes,
    as_outline,
    draw_line,
    draw_outline,
    fill_circle,
    fill_ellipse,
    fill_shape,
    in_planes,
    lay_on,
)
from trainferry.train.data.render.signs.schemes import Scheme
from trainferry.train.data.render.words.background import crop_texture
from trainferry.train.data.render.words.colours import any_colour, jittered
from trainferry.train.data.render.words.dice import Dice
from trainferry.train.data.render.words.fonts import CAPITAL_HEIGHT, Mask, Typeface
from trainferry.train.data.render.words.paint import Colour

_FEET = (
    "Ecrivain", "Peintre", "Poète", "Compositeur", "Homme politique", "Savant", "Résistant",
    "Ancien Maire", "Médecin", "Inventeur", "Aviateur", "Mort pour la France", "Musicien",
)  # fmt: skip


@dataclass(frozen=True)
class Header:
    """A small line over the name; `separate` gives it a band of its own."""

    mask: Mask
    height: float
    size: float
    underline: bool
    separate: bool
    ground: Colour | None
    ink: Colour | None


@dataclass(frozen=True)
class Shield:
    """Arms in a corner; lengths in parts of the plate's height, `room` in capital heights."""

    left: float
    top: float
    size: float
    room: float
    moves: bool


@dataclass(frozen=True)
class Extras:
    """All that is on a plate beside its name."""

    header: Header | None
    shield: Shield | None
    foot: tuple[str, ...]
    foot_size: float
    worn: float
    dirt: float
    fade: float
    rust: int
    screws: bool
    stickers: int
    scribbles: int


def draw_extras(dice: Dice, typeface: Typeface) -> Extras:
    old = dice.chance(0.25)
    return Extras(
        header=_draw_header(dice, typeface) if dice.chance(0.13) else None,
        shield=_draw_shield(dice) if dice.chance(0.12) else None,
        foot=_draw_foot(dice, typeface) if dice.chance(0.14) else (),
        foot_size=dice.between(0.28, 0.5),
        worn=dice.between(0.3, 0.9) if old and dice.chance(0.2) else 0.0,
        dirt=dice.low_between(3, 45) if old else dice.low_between(0, 14),
        fade=dice.bell(22) if dice.chance(0.4) else 0.0,
        rust=dice.whole(2, 9) if old and dice.chance(0.5) else 0,
        screws=dice.chance(0.35),
        stickers=dice.whole(1, 2) if dice.chance(0.025) else 0,
        scribbles=dice.whole(1, 3) if dice.chance(0.02) else 0,
    )


def add_header(face: Planes, header: Header, scale: float, scheme: Scheme) -> None:
    import cv2

    height, width = face.shape[1:]
    band = round(header.height * scale)
    if header.ground is not None:
        face[:, :band] = in_planes(header.ground)
    line_height = header.mask.shape[0] / CAPITAL_HEIGHT * header.size * scale
    line_width = header.mask.shape[1] / CAPITAL_HEIGHT * header.size * scale * 0.85
    size = max(1, round(min(line_width, width * 0.8))), max(1, round(line_height))
    mask = cv2.resize(header.mask, size, interpolation=cv2.INTER_AREA)
    top, left = max(0, round((band - size[1]) / 2 + 0.04 * height)), (width - size[0]) // 2
    part = face[:, top : top + size[1], left : left + size[0]]
    share = mask[: part.shape[1]].astype(np.float32) * np.float32(1 / 255)
    lay_on(part, header.ink or scheme.ink, share)
    if header.underline:
        row = min(height - 1, band + round(0.02 * height))
        start, end = (left, row), (left + size[0], row)
        if header.separate:
            start, end = (0, row), (width, row)
        draw_line(face, start, end, scheme.ink, max(1, height // 70))


def add_shield(face: Planes, shield: Shield, dice: Dice) -> None:
    height = face.shape[1]
    size = shield.size * height
    left, top = shield.left * height, shield.top * height
    form = ((0, 0), (1, 0), (1, 0.7), (0.5, 1.15), (0, 0.7))
    if dice.chance(0.25):
        form = ((0, 0), (1, 0), (1, 1), (0, 1), (0, 0.5))
    points = np.array([(left + x * size, top + y * size) for x, y in form])
    first, second = any_colour(dice), any_colour(dice)
    fill_shape(face, as_outline(points), first)
    half = points.copy()
    half[[0, 4]] = points[[1, 2]] if dice.chance(0.5) else points[[0, 4]]
    half[:, 0] = half[:, 0] * 0.5 + (left + size * 0.5) * 0.5
    fill_shape(face, as_outline(half), second)
    if dice.chance(0.6):
        edge = (235.0, 235.0, 235.0) if dice.chance(0.6) else second
        draw_outline(face, as_outline(points), edge, 1)


def add_damage(face: Planes, extras: Extras, scheme: Scheme, dice: Dice) -> None:
    height, width = face.shape[1:]
    if extras.fade:
        ramp = np.linspace(-1, 1, height, dtype=np.float32)[:, None]
        face += ramp * np.float32(extras.fade)
    if extras.dirt > 2:
        kind = dice.pick(("cloud", "grain", "scratches", "leaves"))
        texture = crop_texture(kind, (width, height), dice.between(0.7, 3), dice)
        face += texture * np.float32(extras.dirt)
    _add_spots(face, extras, scheme, dice)
    _add_stickers(face, extras, dice)


def _add_spots(face: Planes, extras: Extras, scheme: Scheme, dice: Dice) -> None:
    height, width = face.shape[1:]
    if extras.screws:
        inset = max(3, round(height * dice.between(0.04, 0.1)))
        grey = dice.between(30, 220)
        for x in (inset, width - 1 - inset):
            for y in (inset, height - 1 - inset):
                fill_circle(face, (x, y), max(1, height // 60), (grey, grey, grey))
    for _ in range(extras.rust):
        at_edge = dice.chance(0.75)
        x = dice.whole(0, width)
        y = dice.pick((0, height)) + dice.whole(-4, 4) if at_edge else dice.whole(0, height)
        widest = 12 if at_edge else 30  # inside it would hide letters from all views
        axes = dice.whole(2, max(3, height // widest)), dice.whole(2, max(3, height // widest))
        colour = jittered((105, 65, 40), 22, dice)
        fill_ellipse(face, (x, y), axes, dice.between(0, 180), colour)
        if not at_edge and dice.chance(0.5):  # it runs down
            draw_line(face, (x, y), (x, y + axes[1] * 3), scheme.ground, 1)


def _add_stickers(face: Planes, extras: Extras, dice: Dice) -> None:
    height, width = face.shape[1:]
    for _ in range(extras.stickers):
        middle = np.array([dice.between(0.1, 0.9) * width, dice.between(0.1, 0.9) * height])
        reach = dice.between(0.04, 0.09) * height  # a letter is more than twice as high
        angles = np.sort(np.array([dice.between(0, 2 * np.pi) for _ in range(6)]))
        points = middle + np.stack([np.cos(angles), np.sin(angles)], 1) * reach
        colour = jittered((225, 225, 220), 25, dice) if dice.chance(0.7) else any_colour(dice)
        fill_shape(face, as_outline(points), colour)
    for _ in range(extras.scribbles):
        points = np.array([[dice.between(0, width), dice.between(0, height)] for _ in range(4)])
        line = as_outline(points * 0.5 + points[0] * 0.5)
        draw_outline(face, line, any_colour(dice), dice.whole(1, 3), closed=False)


def _draw_header(dice: Dice, typeface: Typeface) -> Header | None:
    separate = dice.chance(0.4)
    if separate:
        town = draw_town(dice)
        text = town.upper() if dice.chance(0.6) else town
        runs = [Run(text)]
    else:
        number = dice.whole(1, 20)
        runs = [Run(f"{number}"), Run(dice.pick(("e", "e", "ème", "eme")), 0.6)]
        runs += [Run(dice.pick((" Arr", " Arrt", " ARR", " Arrt", " ARRt")))]
    if not can_write(runs, typeface):
        return None
    mask = set_line(runs, typeface, Setting(space=0.4))
    ground: Colour | None = None
    ink: Colour | None = None
    if separate and dice.chance(0.5):
        ground, ink = jittered((235, 235, 232), 12, dice), jittered((40, 40, 60), 20, dice)
    size = dice.between(0.4, 0.7)
    height = size * dice.between(1.3, 2.0)
    return Header(mask, height, size, dice.chance(0.5), separate, ground, ink)


def _draw_shield(dice: Dice) -> Shield:
    size = dice.between(0.14, 0.26)
    return Shield(
        left=dice.between(0.06, 0.14),
        top=dice.between(0.08, 0.35),
        size=size,
        room=dice.between(0.0, 0.8),
        moves=dice.chance(0.5),
    )


def _draw_foot(dice: Dice, typeface: Typeface) -> tuple[str, ...]:
    year = dice.whole(1500, 1930)
    dates = f"{year} - {year + dice.whole(20, 90)}"
    numbers = f"N°{dice.whole(1, 99)} à N°{dice.whole(100, 300)}"
    lines = dice.pick(
        (
            (dates,),
            (dice.pick(_FEET),),
            (dice.pick(_FEET), dates),
            (f"{dice.pick(_FEET)} {dates}",),
            (numbers,),
            (draw_town(dice),),
        )
    )
    return lines if all(can_write([Run(line)], typeface) for line in lines) else ()
