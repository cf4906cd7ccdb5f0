"""What is around a plate: walls, hedges and streets, each drawn once per process, by rule."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from trainferry.train.data.render.words.background import fractal
from trainferry.train.data.render.words.dice import Dice
from trainferry.train.data.render.words.paint import Canvas

Scene = npt.NDArray[np.uint8]

SCENES = 160
"""Of these, the even ones are walls, the odd ones streets and greenery."""

_SIZE = 288
_SEED = 51

_WALLS = (
    (205, 190, 165), (190, 170, 140), (225, 220, 210), (170, 160, 150), (150, 110, 85),
    (200, 150, 125), (130, 125, 120), (215, 200, 150), (175, 175, 180), (140, 90, 75),
    (230, 225, 200), (110, 105, 95), (185, 185, 170),
)  # fmt: skip
_GREENS = ((70, 95, 45), (95, 115, 60), (45, 65, 35), (110, 125, 75), (30, 45, 25), (120, 115, 60))
_GROUNDS = ((120, 120, 122), (150, 145, 140), (95, 115, 60), (165, 155, 125), (90, 88, 90))


def cut_scene(number: int, size: int, zoom: float, dice: Dice) -> Scene:
    """Return a square piece of a scene; a larger `zoom` shows less of it."""
    import cv2

    scene = _scene(number)
    side = min(_SIZE, max(24, round(size / zoom)))
    top, left = dice.whole(0, _SIZE - side), dice.whole(0, _SIZE - side)
    piece = scene[top : top + side, left : left + side]
    filter = cv2.INTER_AREA if side > 1.7 * size else cv2.INTER_LINEAR
    return cv2.resize(piece, (size, size), interpolation=filter).astype(np.uint8, copy=False)


def leaf_mask(size: int, share: float, dice: Dice) -> npt.NDArray[np.float32]:
    """Return where leaves or their shadows are, 0 to 1, over about that share of a square."""
    field = _fields()[dice.whole(0, 7)]
    top, left = dice.whole(0, _SIZE - size), dice.whole(0, _SIZE - size)
    piece = field[top : top + size, left : left + size]
    # The field is about normal, so the share of it above a level is known.
    level = np.float32(1.2 - 2.4 * share)
    return np.clip((piece - level) * 4, 0, 1).astype(np.float32, copy=False)


@lru_cache(maxsize=SCENES)
def _scene(number: int) -> Scene:
    import cv2

    generator = np.random.default_rng([_SEED, number])
    canvas = _wall(generator) if number % 2 == 0 else _street(generator)
    if generator.random() < 0.3:
        canvas = cv2.GaussianBlur(canvas, (0, 0), generator.uniform(0.8, 3.5)).astype(np.float32)
    canvas *= np.float32(generator.uniform(0.55, 1.1))
    return np.clip(canvas, 0, 255).astype(np.uint8)


@lru_cache(maxsize=1)
def _fields() -> list[Canvas]:
    generator = np.random.default_rng(_SEED)
    return [fractal(generator, _SIZE, slope) for slope in (0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.7)]


def _wall(generator: np.random.Generator) -> Canvas:
    kind = generator.random()
    canvas = _plain(generator, _WALLS)
    grain = fractal(generator, _SIZE, generator.uniform(0.3, 1.0)) * generator.uniform(1, 11)
    canvas += grain[..., None].astype(np.float32)
    if kind < 0.3:
        _lay_stones(canvas, generator, bricks=generator.random() < 0.6)
    elif kind < 0.42:
        _lay_rubble(canvas, generator)
    for _ in range(int(generator.integers(0, 5))):
        _add_fitting(canvas, generator)
    if generator.random() < 0.5:
        stains = fractal(generator, _SIZE, 1.7) * generator.uniform(3, 16)
        canvas += stains[..., None].astype(np.float32)
    return canvas


def _street(generator: np.random.Generator) -> Canvas:
    import cv2

    canvas = _plain(generator, ((190, 205, 225), (225, 228, 232), (150, 175, 205), (205, 200, 190)))
    row = 0
    while row < _SIZE:
        depth = int(generator.integers(20, 130))
        kind = generator.random()
        strip = canvas[row : row + depth]
        if kind < 0.5:
            _grow(strip, generator)
        elif kind < 0.75:
            strip[:] = _colour(generator, _WALLS)
            _add_windows(strip, generator)
        elif row > _SIZE // 2:
            strip[:] = _colour(generator, _GROUNDS)
            noise = fractal(generator, _SIZE, 0.6)[: strip.shape[0]] * generator.uniform(3, 14)
            strip += noise[..., None].astype(np.float32)
        row += depth
    for _ in range(int(generator.integers(2, 9))):
        _add_thing(canvas, generator)
    if generator.random() < 0.2:
        _add_mesh(canvas, generator)
    if generator.random() < 0.25:
        canvas = cv2.GaussianBlur(canvas, (0, 0), generator.uniform(1, 2)).astype(np.float32)
    return canvas


def _plain(generator: np.random.Generator, colours: tuple[tuple[int, int, int], ...]) -> Canvas:
    canvas = np.empty((_SIZE, _SIZE, 3), np.float32)
    canvas[:] = _colour(generator, colours)
    ramp = np.linspace(-1, 1, _SIZE, dtype=np.float32)[:, None, None]
    ramp = ramp if generator.random() < 0.5 else ramp.transpose(1, 0, 2)
    canvas += ramp * np.float32(generator.normal(0, 14))
    return canvas


def _colour(
    generator: np.random.Generator, colours: tuple[tuple[int, int, int], ...]
) -> npt.NDArray[np.float32]:
    base = np.array(colours[int(generator.integers(len(colours)))], np.float32)
    return (base * generator.uniform(0.6, 1.15) + generator.normal(0, 8, 3)).astype(np.float32)


def _lay_stones(canvas: Canvas, generator: np.random.Generator, *, bricks: bool) -> None:
    high = float(generator.uniform(9, 18) if bricks else generator.uniform(25, 60))
    wide = high * float(generator.uniform(2, 3.2))
    joint = 1.5 if bricks else float(generator.uniform(1.5, 4))
    rows, columns = np.mgrid[:_SIZE, :_SIZE].astype(np.float32)
    course = np.floor(rows / high)
    shifted = columns + (course % 2) * wide / 2
    tone = np.sin(course * 12.9898 + np.floor(shifted / wide) * 78.233) * 43758.5453
    canvas += ((tone - np.floor(tone) - 0.5) * generator.uniform(8, 40))[..., None]
    gap = (rows % high < joint) | (shifted % wide < joint)
    canvas[gap] += np.float32(generator.choice([-45, 40, 25]))


def _lay_rubble(canvas: Canvas, generator: np.random.Generator) -> None:
    import cv2

    joint = _colour(generator, _WALLS)
    canvas[:] = joint
    for _ in range(260):
        axes = generator.integers(8, 32, 2).tolist()
        middle = generator.integers(0, _SIZE, 2).tolist()
        angle = float(generator.normal(0, 20))
        colour = (joint * generator.uniform(0.55, 1.1) + generator.normal(0, 5, 3)).tolist()
        cv2.ellipse(canvas, middle, axes, angle, 0, 360, colour, -1, cv2.LINE_AA)
    canvas += (fractal(generator, _SIZE, 0.9) * 10)[..., None].astype(np.float32)


def _add_fitting(canvas: Canvas, generator: np.random.Generator) -> None:
    """Add a pipe, ledge, shutter, window or dark corner to a wall."""
    kind = generator.random()
    start = int(generator.integers(0, _SIZE))
    reach = int(generator.integers(3, 26))
    shade = np.float32(generator.uniform(0.35, 1.25))
    if kind < 0.35:
        canvas[start : start + reach] *= shade
    elif kind < 0.7:
        canvas[:, start : start + reach] *= shade
    else:
        top = int(generator.integers(0, _SIZE))
        high, wide = generator.integers(20, 110, 2).tolist()
        canvas[top : top + high, start : start + wide] = _colour(generator, _WALLS) * 0.5
        canvas[top + 5 : top + high - 5, start + 5 : start + wide - 5] *= shade


def _grow(strip: Canvas, generator: np.random.Generator) -> None:
    """Fill a strip with leaves: light ones over dark ones."""
    dark = _colour(generator, _GREENS) * np.float32(generator.uniform(0.1, 0.7))
    light = _colour(generator, _GREENS) * np.float32(generator.uniform(0.9, 1.7))
    field = fractal(generator, _SIZE, generator.uniform(0.5, 1.2))
    field = field + 0.8 * fractal(generator, _SIZE, 1.7)
    share = np.clip(field[: strip.shape[0]] * 0.45 + 0.5, 0, 1)[..., None].astype(np.float32)
    strip[:] = dark + (light - dark) * share**1.5


def _add_windows(strip: Canvas, generator: np.random.Generator) -> None:
    high, wide = strip.shape[0], int(generator.integers(18, 60))
    for left in range(int(generator.integers(0, 40)), _SIZE, int(wide * generator.uniform(1.5, 3))):
        pane = strip[high // 5 : high * 4 // 5, left : left + wide]
        pane *= np.float32(generator.uniform(0.2, 0.6))


def _add_thing(canvas: Canvas, generator: np.random.Generator) -> None:
    """Add a car, a bin, a post, a board: only its outline matters."""
    import cv2

    grey = generator.uniform(15, 240)
    colour = (grey + generator.normal(0, 12, 3)).tolist()
    x, y = generator.integers(0, _SIZE, 2).tolist()
    kind = generator.random()
    if kind < 0.4:
        wide = int(generator.integers(2, 14))
        cv2.rectangle(canvas, (x, 0), (x + wide, _SIZE), colour, -1)
    elif kind < 0.8:
        points = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * generator.uniform(15, 110, 2)
        points += np.array((x, y)) + generator.normal(0, 3, (4, 2))
        cv2.fillPoly(canvas, [points.astype(np.int32)], colour, cv2.LINE_AA)
    else:
        axes = generator.integers(6, 50, 2).tolist()
        cv2.ellipse(canvas, (x, y), axes, 0, 0, 360, colour, -1, cv2.LINE_AA)


def _add_mesh(canvas: Canvas, generator: np.random.Generator) -> None:
    import cv2

    grey = float(generator.uniform(60, 200))
    step = int(generator.integers(7, 22))
    for start in range(-_SIZE, _SIZE, step):
        colour = (grey, grey, grey)
        cv2.line(canvas, (start, 0), (start + _SIZE, _SIZE), colour, 1, cv2.LINE_AA)
        cv2.line(canvas, (start + _SIZE, 0), (start, _SIZE), colour, 1, cv2.LINE_AA)
