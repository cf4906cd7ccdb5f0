"""Every decision about one picture, drawn in one place, so that a picture can be explained."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from trainferry.train.data.render.words.background import TEXTURES, Ground
from trainferry.train.data.render.words.camera import Camera
from trainferry.train.data.render.words.colours import any_colour, draw_pair, jittered
from trainferry.train.data.render.words.dice import Dice
from trainferry.train.data.render.words.glyphs import Letters
from trainferry.train.data.render.words.paint import Colour, Paint, Shade
from trainferry.train.data.render.words.warp import Bend, Warp

Margins = tuple[float, float, float, float]


@dataclass(frozen=True)
class Extras:
    """Things beside the word; gaps to neighbouring words in text heights, 0 for none."""

    above: float = 0.0
    below: float = 0.0
    before: float = 0.0
    after: float = 0.0
    underline: bool = False
    plate: float = 0.0
    plate_frame: int = 0
    wires: int = 0
    cover: float = 0.0


@dataclass(frozen=True)
class Look:
    """How one word looks, from its letters to the stored picture."""

    letters: Letters
    warp: Warp
    paint: Paint
    ground: Ground
    extras: Extras
    margins: Margins
    camera: Camera


def draw_plain_look(dice: Dice) -> Look:
    """Draw a look that a small network learns soon: strong colours, straight, hardly blurred."""
    ink, colour, _ = draw_pair(dice, least=90)
    across, upright = dice.between(0.05, 0.25), dice.between(0.05, 0.2)
    return Look(
        letters=Letters(tracking=dice.between(0.0, 0.1)),
        warp=Warp(squeeze=math.exp(dice.bell(0.06)), turn=dice.bell(1.0)),
        paint=Paint(ink, colour),
        ground=Ground(colour, texture="grain", texture_strength=dice.between(0, 8)),
        extras=Extras(),
        margins=(across, upright, across, upright),
        camera=Camera(height=32, defocus=dice.between(0, 0.6), quality=90),
    )


def draw_look(dice: Dice, length: int, style: str) -> Look:
    """Draw the look of a word of so many characters in a font of that style."""
    paint, ground = _draw_colours(dice, least=dice.low_between(24, 90, 1.5))
    warp = _draw_warp(dice, length)
    extras = _draw_extras(dice, warp)
    return Look(
        letters=_draw_letters(dice, style),
        warp=warp,
        paint=paint,
        ground=ground,
        extras=extras,
        margins=_draw_margins(dice, extras),
        camera=_draw_camera(dice, curved=warp.bend is not None and abs(warp.bend.height) > 0.4),
    )


def clearer(look: Look, dice: Dice) -> Look:
    """Return the same look in strong plain colours, for a word that could not be read."""
    ink, colour, _ = draw_pair(dice, least=110)
    camera = replace(
        look.camera,
        height=max(look.camera.height, 32),
        defocus=look.camera.defocus * 0.5,
        motion=look.camera.motion * 0.5,
        black=10.0,
        white=245.0,
        gamma=1.0,
        light=1.0,
        noise=min(look.camera.noise, 5.0),
    )
    ground = Ground(colour, texture="grain", texture_strength=dice.low_between(0, 12))
    return replace(look, paint=Paint(ink, colour), ground=ground, camera=camera)


def _draw_letters(dice: Dice, style: str) -> Letters:
    joined = style == "script"
    kind = dice.fraction()
    if joined or kind < 0.45:
        tracking = dice.bell(0.012)
    elif kind < 0.62:
        tracking = dice.between(-0.07, 0.0)
    elif kind < 0.9:
        tracking = dice.between(0.0, 0.2)
    else:
        tracking = dice.low_between(0.2, 0.8, 1.7)
    uneven = not joined and dice.chance(0.06)
    return Letters(
        tracking=tracking,
        rise=dice.between(0.02, 0.09) if uneven else 0.0,
        turn=dice.between(1, 7) if uneven else 0.0,
        weight=dice.pick((-1, 1, 2, 3)) if dice.chance(0.3) else 0,
        small_capitals=dice.between(0.72, 0.85) if dice.chance(0.14) else 1.0,
    )


def _draw_warp(dice: Dice, length: int) -> Warp:
    long = min(1.0, 5.0 / max(length, 1))
    bend = None
    if dice.chance(0.15):
        if dice.chance(0.12):
            bend = Bend(dice.between(0.05, 0.2), dice.between(0.5, 1.2), dice.between(0, 6.3))
        else:
            height = dice.low_between(0.1, 0.95, 1.5) / max(long, 0.6) * min(1, length / 5)
            bend = Bend(height * dice.pick((1, 1, 1, -1)))
    kind = dice.fraction()
    turn = dice.bell(1.6) if kind < 0.6 else dice.bell(5) if kind < 0.93 else dice.bell(14) * long
    return Warp(
        squeeze=math.exp(dice.bell(0.16)) * 0.93,
        slant=dice.bell(0.06) if dice.chance(0.72) else dice.between(-0.2, 0.45),
        turn=turn,
        corners=_draw_corners(dice, length),
        bend=bend,
    )


def _draw_corners(dice: Dice, length: int) -> tuple[float, ...]:
    """Move the corners, x and y from top left clockwise; no end shrinks below half."""
    kind = dice.fraction()
    spread = 0.015 if kind < 0.45 else 0.06 if kind < 0.85 else 0.13
    across = spread * min(1.0, length / 4)
    corners = [dice.bell(spread if place % 2 else across) for place in range(8)]
    if dice.chance(0.22):  # seen from the side: one end is smaller, lines run together
        near, sink = dice.low_between(0.03, 0.25, 1.5), dice.bell(0.12)
        top, bottom = (1, 7) if dice.chance(0.5) else (3, 5)
        corners[top] += near + sink
        corners[bottom] -= near - sink
    for top, bottom in ((1, 7), (3, 5)):
        excess = corners[top] - corners[bottom] - 0.5
        if excess > 0:
            corners[top] -= excess / 2
            corners[bottom] += excess / 2
    return tuple(corners)


def _draw_extras(dice: Dice, warp: Warp) -> Extras:
    lines = dice.chance(0.3) and warp.bend is None
    plate = dice.chance(0.1)
    return Extras(
        above=dice.low_between(0.06, 0.6) if lines and dice.chance(0.55) else 0.0,
        below=dice.low_between(0.06, 0.6) if lines and dice.chance(0.6) else 0.0,
        before=dice.between(0.2, 0.5) if dice.chance(0.13) else 0.0,
        after=dice.between(0.2, 0.5) if dice.chance(0.15) else 0.0,
        underline=dice.chance(0.025),
        plate=dice.low_between(0.08, 0.5) if plate else 0.0,
        plate_frame=dice.whole(1, 3) if plate and dice.chance(0.6) else 0,
        wires=dice.whole(1, 2) if dice.chance(0.025) else 0,
        cover=dice.between(0.04, 0.16) if dice.chance(0.025) else 0.0,
    )


def _draw_margins(dice: Dice, extras: Extras) -> Margins:
    """Mostly a little air around the word; sometimes much, sometimes a letter just touched."""
    loose = dice.chance(0.13)
    upright = 0.65 if loose else 0.22
    across = 0.75 if loose else 0.26
    left, right = dice.low_between(-0.03, across, 1.3), dice.low_between(-0.03, across, 1.3)
    top, bottom = dice.low_between(-0.02, upright, 1.3), dice.low_between(-0.02, upright, 1.3)
    # Of a neighbouring word at the side only a sliver may show: it is not part of the label.
    if extras.before:
        left = min(left, extras.before + 0.05)
    if extras.after:
        right = min(right, extras.after + 0.05)
    if extras.above:
        top = min(top, extras.above + 0.3)
    if extras.below:
        bottom = min(bottom, extras.below + 0.3)
    return left, top, right, bottom


def _draw_colours(dice: Dice, least: float) -> tuple[Paint, Ground]:
    ink, colour, kind = draw_pair(dice, least)
    ground = _draw_ground(dice, colour, kind)
    outline = dice.whole(1, 4) if dice.chance(0.13) else 0
    shade = _draw_shade(dice, ink, kind) if dice.chance(0.26) else None
    gradient: Colour = (0.0, 0.0, 0.0)
    if dice.chance(0.2):
        gradient = jittered_around_zero(dice, 28)
    hollow = dice.whole(3, 5) if dice.chance(0.02) else 0
    return (
        Paint(
            ink=ink,
            ground=colour,
            outline=outline,
            outline_colour=_far_from(ink, dice) if outline else (0.0, 0.0, 0.0),
            hollow=hollow,
            shade=shade,
            relief=dice.between(0.2, 1.2) if dice.chance(0.13) else 0.0,
            gradient=gradient,
            gradient_across=dice.chance(0.4),
            ink_texture=dice.low_between(4, 45) if dice.chance(0.22) else 0.0,
            lamps=not hollow and dice.chance(0.008),
            opacity=dice.between(0.6, 1.0) if dice.chance(0.15) else 1.0,
        ),
        ground,
    )


def jittered_around_zero(dice: Dice, spread: float) -> Colour:
    common = dice.bell(spread)
    return (
        common + dice.bell(spread / 3),
        common + dice.bell(spread / 3),
        common + dice.bell(spread / 3),
    )


def _far_from(ink: Colour, dice: Dice) -> Colour:
    bright = 0.3 * ink[0] + 0.59 * ink[1] + 0.11 * ink[2]
    if dice.chance(0.7):
        base = dice.between(0, 50) if bright > 127 else dice.between(205, 255)
        return jittered((base, base, base), 14, dice)
    return any_colour(dice)


def _draw_shade(dice: Dice, ink: Colour, kind: str) -> Shade:
    form = dice.fraction()
    dark = jittered((20.0, 20.0, 22.0), 16, dice)
    if form < 0.62:
        colour = dark if dice.chance(0.85) else any_colour(dice)
        reach = dice.low_between(1, 6)
        angle = dice.between(0, 2 * math.pi) if dice.chance(0.3) else dice.between(0.4, 2.6)
        return Shade(
            across=reach * math.cos(angle),
            down=reach * math.sin(angle),
            softness=dice.low_between(0, 3.5),
            strength=dice.between(0.3, 0.95),
            colour=colour,
        )
    if form < 0.87:  # side walls of solid letters: darker ink, or the ground's opposite
        factor = dice.between(0.3, 0.8)
        red, green, blue = (part * factor for part in ink)
        wall = (red, green, blue) if dice.chance(0.7) else dark
        return Shade(
            across=dice.between(-6, 6),
            down=dice.between(-5, 6),
            softness=0.0,
            strength=1.0,
            colour=wall,
            solid=True,
        )
    glow = jittered(ink, 20, dice) if kind == "night" or dice.chance(0.5) else _far_from(ink, dice)
    return Shade(0.0, 0.0, dice.between(2, 6), dice.between(0.3, 0.9), glow)


def _draw_ground(dice: Dice, colour: Colour, kind: str) -> Ground:
    gradient: Colour = (0.0, 0.0, 0.0)
    if dice.chance(0.35):
        gradient = jittered_around_zero(dice, 22)
    texture, strength = "", 0.0
    if dice.chance(0.75 if kind == "wall" else 0.4):
        texture = dice.pick(TEXTURES) if dice.chance(0.6) else dice.pick(("cloud", "grain"))
        strength = dice.low_between(4, 48)
    photo = 0.0
    if dice.chance(0.24):
        photo = dice.low_between(0.1, 0.8, 1.5)
    return Ground(
        colour=colour,
        gradient=gradient,
        gradient_across=dice.chance(0.5),
        texture=texture,
        texture_strength=strength,
        texture_zoom=math.exp(dice.between(-0.3, 1.4)),
        photo=photo,
        photo_zoom=math.exp(dice.between(-0.3, 1.5)),
    )


def _draw_camera(dice: Dice, *, curved: bool) -> Camera:
    kind = dice.fraction()
    height = dice.whole(30, 40) if kind < 0.72 else dice.whole(20, 30) if kind < 0.9 else 0
    height = height or dice.whole(13, 20)
    if curved:  # the letters fill only a part of the height
        height = 40
    kind = dice.fraction()
    defocus = 0.0 if kind < 0.3 else dice.low_between(0.3, 1.0, 1) if kind < 0.75 else 0.0
    if kind >= 0.75:
        defocus = dice.low_between(0.8, 2.3, 1.5)
    weak = dice.chance(0.3)
    black = dice.between(0, 75) if weak else dice.low_between(0, 30)
    white = dice.between(black + 70, 235) if weak else dice.between(200, 265)
    tint = 0.06 if dice.chance(0.6) else 0.0
    lit = dice.chance(0.25)
    return Camera(
        height=height,
        defocus=defocus,
        motion=dice.between(2, 6) if dice.chance(0.1) else 0.0,
        motion_angle=dice.whole(0, 15) * math.pi / 16,
        light=dice.between(0.35, 1.3) if lit else 1.0,
        light_angle=dice.between(0, 2 * math.pi),
        hard_shadow=dice.chance(0.2),
        black=black,
        white=white,
        gamma=math.exp(dice.bell(0.25)) if dice.chance(0.6) else 1.0,
        balance=(1 + dice.bell(tint), 1 + dice.bell(tint), 1 + dice.bell(tint)),
        grey=dice.chance(0.04),
        noise=dice.low_between(0.5, 17, 2.2) if dice.chance(0.6) else 0.0,
        noise_grey=dice.chance(0.5),
        sharpen=dice.between(0.3, 1.5) if dice.chance(0.12) else 0.0,
        quality=dice.whole(30, 95),
    )
