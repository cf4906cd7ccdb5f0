"""What is behind the letters: walls, boards, textures and out-of-focus streets, all by rule."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from trainferry.train.data.render.words.dice import Dice
from trainferry.train.data.render.words.paint import Canvas, Colour

Texture = npt.NDArray[np.int8]
Photo = npt.NDArray[np.uint8]

_BANK_SEED = 20
_TEXTURE_SIZE = 256
_PHOTOS = 64
_TEXTURES_PER_KIND = 6


@dataclass(frozen=True)
class Ground:
    """The background: a colour, its gradients, a texture over it, a photo mixed into it."""

    colour: Colour
    gradient: Colour = (0.0, 0.0, 0.0)
    gradient_across: bool = False
    texture: str = ""
    texture_strength: float = 0.0
    texture_zoom: float = 1.0
    photo: float = 0.0
    photo_zoom: float = 1.0


def draw_ground(ground: Ground, size: tuple[int, int], dice: Dice) -> Canvas:
    """Return the background as height, width, 3 floats."""
    width, height = size
    canvas = np.empty((height, width, 3), np.float32)
    canvas[:] = ground.colour
    if any(ground.gradient):
        length = width if ground.gradient_across else height
        ramp = np.linspace(-1, 1, length, dtype=np.float32)
        ramp = ramp[None, :, None] if ground.gradient_across else ramp[:, None, None]
        canvas += ramp * np.asarray(ground.gradient, np.float32)
    if ground.photo:
        picture = crop_photo(size, ground.photo_zoom, dice)
        canvas += (picture - canvas) * np.float32(ground.photo)
    if ground.texture:
        grain = crop_texture(ground.texture, size, ground.texture_zoom, dice)
        canvas += grain[..., None] * np.float32(ground.texture_strength)
    return canvas


def crop_texture(kind: str, size: tuple[int, int], zoom: float, dice: Dice) -> Canvas:
    """Return a piece of a texture, height and width, about -1 to 1."""
    import cv2

    piece = _cut(dice.pick(_textures()[kind]), size, zoom, dice)
    resized = cv2.resize(piece.astype(np.float32), size, interpolation=cv2.INTER_LINEAR)
    return resized.astype(np.float32, copy=False) * np.float32(1 / 100)


def crop_photo(size: tuple[int, int], zoom: float, dice: Dice) -> Canvas:
    """Return a piece of a made-up street scene with its colours mixed anew."""
    import cv2

    piece = _cut(dice.pick(_photos()), size, zoom, dice)
    resized = cv2.resize(piece, size, interpolation=cv2.INTER_LINEAR).astype(np.float32)
    order = dice.pick(((0, 1, 2), (0, 2, 1), (1, 0, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1)))
    mixed = resized[..., list(order)] * np.float32(dice.between(0.4, 1.1))
    return mixed + np.float32(dice.between(-10, 40))


TEXTURES = ("cloud", "grain", "brick", "wood", "stripes", "tiles", "leaves", "scratches")


@lru_cache(maxsize=1)
def _textures() -> dict[str, list[Texture]]:
    generator = np.random.default_rng(_BANK_SEED)
    return {
        kind: [_texture(kind, generator) for _ in range(_TEXTURES_PER_KIND)] for kind in TEXTURES
    }


@lru_cache(maxsize=1)
def _photos() -> list[Photo]:
    generator = np.random.default_rng(_BANK_SEED + 1)
    return [_photo(generator) for _ in range(_PHOTOS)]


def _cut(bank: Photo | Texture, size: tuple[int, int], zoom: float, dice: Dice) -> Photo | Texture:
    """Return a random window, `zoom` times smaller than the picture wants, perhaps mirrored."""
    rows, columns = bank.shape[:2]
    width = min(columns, max(4, round(size[0] / zoom)))
    height = min(rows, max(4, round(size[1] / zoom)))
    top, left = dice.whole(0, rows - height), dice.whole(0, columns - width)
    piece = bank[top : top + height, left : left + width]
    return piece[:, ::-1] if dice.chance(0.5) else piece


def _texture(kind: str, generator: np.random.Generator) -> Texture:
    import cv2

    size = _TEXTURE_SIZE
    if kind == "cloud":
        field = fractal(generator, size, generator.uniform(1.2, 2.2))
    elif kind == "grain":
        field = fractal(generator, size, generator.uniform(0.0, 0.8))
    elif kind == "wood":
        field = fractal(generator, size, 1.2)
        field = cv2.resize(field[: size // 10], (size, size)).astype(np.float32)
        field = (field if generator.random() < 0.5 else field.T) + 0.3 * fractal(
            generator, size, 0.5
        )
    elif kind == "leaves":
        cells = fractal(generator, size, 0.7)
        field = np.sign(cells) * np.abs(cells) ** 0.5 + 0.5 * fractal(generator, size, 1.5)
    elif kind == "scratches":
        field = _scratches(generator, size)
    else:
        field = _regular(kind, generator, size)
    field = np.ascontiguousarray(field, np.float32)
    field -= field.mean()
    return np.clip(field / (field.std() + 1e-6) * 50, -127, 127).astype(np.int8)


def fractal(generator: np.random.Generator, size: int, slope: float) -> Canvas:
    """Return noise whose spectrum falls like 1/frequency**slope, deviation 1."""
    rows = np.fft.fftfreq(size)[:, None]
    columns = np.fft.rfftfreq(size)[None]
    radius = np.sqrt(rows**2 + columns**2)
    radius[0, 0] = 1
    spectrum = np.fft.rfft2(generator.standard_normal((size, size))) / radius**slope
    spectrum[0, 0] = 0
    field = np.fft.irfft2(spectrum, (size, size))
    return (field / field.std()).astype(np.float32)


def _regular(kind: str, generator: np.random.Generator, size: int) -> Canvas:
    rows, columns = np.mgrid[:size, :size].astype(np.float32)
    period = float(generator.uniform(6, 24))
    joint = float(generator.uniform(1, 2.5))
    if kind == "stripes":
        angle = generator.choice([0.0, np.pi / 2, generator.uniform(0, np.pi)])
        along = rows * np.cos(angle) + columns * np.sin(angle)
        field = np.where(along % period < period * generator.uniform(0.15, 0.6), 1.0, -1.0)
    else:
        wide = period * (2.2 if kind == "brick" else 1.0)
        course = np.floor(rows / period)
        shifted = columns + (course % 2) * wide / 2 * (kind == "brick")
        stone = np.floor(shifted / wide)
        tone = np.sin(course * 12.9898 + stone * 78.233) * 43758.5453
        field = (tone - np.floor(tone)) - 0.5
        gap = (rows % period < joint) | (shifted % wide < joint)
        field = np.where(gap, generator.choice([-1.6, 1.6]), field)
    return (field + 0.3 * fractal(generator, size, 0.8)).astype(np.float32)


def _scratches(generator: np.random.Generator, size: int) -> Canvas:
    import cv2

    field = np.zeros((size, size), np.float32)
    for _ in range(60):
        ends = generator.integers(0, size, 4).tolist()
        cv2.line(
            field, ends[:2], ends[2:], float(generator.normal()), int(generator.integers(1, 3))
        )
    return field + 0.5 * fractal(generator, size, 1.0)


def _photo(generator: np.random.Generator) -> Photo:
    """Return shapes upon shapes, some sharp, some out of focus, under uneven light."""
    import cv2

    height, width = 192, 320
    picture = np.empty((height, width, 3), np.float32)
    picture[:] = _muted(generator)
    picture += 18 * np.resize(fractal(generator, 320, 1.6)[:height], (height, width))[..., None]
    for _ in range(int(generator.integers(14, 60))):
        colour = _muted(generator).tolist()
        centre = generator.integers(0, (width, height)).tolist()
        reach = float(generator.gamma(2.0, 14.0)) + 3
        kind = generator.random()
        if kind < 0.5:
            corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * generator.uniform(0.2, 1, 2)
            angle = generator.normal(0, 0.12) if kind < 0.4 else generator.uniform(0, 3)
            turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            points = (corners @ turn * reach + centre).astype(np.int32)
            cv2.fillPoly(picture, [points], colour, cv2.LINE_AA)
        elif kind < 0.7:
            cv2.circle(picture, centre, int(reach * 0.6), colour, -1, cv2.LINE_AA)
        else:
            end = generator.integers(0, (width, height)).tolist()
            if kind < 0.85:
                end[int(generator.integers(2))] = centre[int(generator.integers(2))]
            cv2.line(picture, centre, end, colour, int(generator.integers(1, 6)), cv2.LINE_AA)
        if generator.random() < 0.06:
            picture = cv2.GaussianBlur(picture, (0, 0), generator.uniform(1, 5)).astype(np.float32)
    grain = fractal(generator, 320, 1.0)[:height] * generator.uniform(2, 16)
    picture += grain[..., None]
    return np.clip(picture, 0, 255).astype(np.uint8)


def _muted(generator: np.random.Generator) -> npt.NDArray[np.float32]:
    grey = generator.uniform(10, 245)
    return (grey + generator.normal(0, 28, 3)).astype(np.float32)
