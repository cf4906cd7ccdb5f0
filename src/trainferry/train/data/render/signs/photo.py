"""What camera, sun and distance do to one view of a plate."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from trainferry.train.data.render.signs.scenery import leaf_mask
from trainferry.train.data.render.words.dice import Dice
from trainferry.train.data.render.words.paint import Canvas, Colour

View = npt.NDArray[np.uint8]

_LEVELS = np.linspace(0, 1, 256)
_NOISE = 512
_PIXEL_BLUR = 0.45
"""Deviation that taking a pixel's mean and enlarging it again amounts to, in such pixels."""


@dataclass(frozen=True)
class Light:
    """How a place is lit, the same for the views of a sample but for small changes."""

    gain: float
    contrast: float
    gamma: float
    balance: tuple[float, float, float]
    resolution: float
    defocus: float
    noise: float


@dataclass(frozen=True)
class Photo:
    """One photograph; lengths in pixels of the view."""

    table: npt.NDArray[np.uint8]
    resolution: float
    defocus: float
    motion: int
    motion_angle: int
    noise: float
    quality: int
    sharpen: float


def draw_light(dice: Dice) -> Light:
    dark = dice.chance(0.2)
    tint = 0.04 if dice.chance(0.75) else 0.1
    kind = dice.fraction()
    return Light(
        gain=dice.between(0.4, 0.72) if dark else dice.between(0.72, 1.25),
        contrast=dice.between(0.85, 1.3),
        gamma=math.exp(dice.bell(0.22)),
        balance=(1 + dice.bell(tint), 1 + dice.bell(tint * 0.6), 1 + dice.bell(tint)),
        resolution=dice.between(0.7, 1.0) if kind < 0.62 else dice.between(0.4, 0.7),
        defocus=dice.low_between(0.0, 1.2, 1.6),
        noise=dice.low_between(0, 9),
    )


def draw_photo(dice: Dice, light: Light, *, clear: bool, least_resolution: float) -> Photo:
    """Draw one photograph; a clear one is as good as the place allows, or as reading needs."""
    resolution, defocus, motion = light.resolution, light.defocus, 0
    if clear:
        resolution = max(resolution, least_resolution)
    else:
        resolution *= dice.between(0.75, 1.0) if dice.chance(0.55) else dice.between(0.35, 0.85)
        defocus += dice.low_between(0.0, 1.6) if dice.chance(0.3) else 0.0
        motion = dice.whole(2, 7) if dice.chance(0.12) else 0
    return Photo(
        table=_table(dice, light),
        resolution=min(1.0, max(0.24, resolution)),
        defocus=defocus,
        motion=motion,
        motion_angle=dice.whole(0, 7),
        noise=light.noise * dice.between(0.5, 1.3),
        quality=dice.whole(35, 85) if dice.chance(0.3) else 0,
        sharpen=dice.between(0.3, 1.2) if dice.chance(0.2) else 0.0,
    )


def no_softer(photo: Photo, most: float) -> Photo:
    """Return the photograph with at most so much blur, in pixels of the view.

    Focus and resolution may both have their part of it; their squares add up.
    """
    part = most * math.sqrt(0.5)
    return replace(
        photo,
        defocus=min(photo.defocus, part),
        resolution=max(photo.resolution, min(1.0, _PIXEL_BLUR / part)),
    )


def take_photo(scene: View, photo: Photo, dice: Dice) -> View:
    """Photograph the scene: it is seen smaller, blurred there, and enlarged again."""
    import cv2

    size = scene.shape[0]
    side = max(20, round(size * photo.resolution)) if photo.resolution < 0.97 else size
    small: npt.NDArray[Any] = _exposed(scene, photo.table, side)
    defocus = photo.defocus * photo.resolution
    if defocus > 0.25:
        small = cv2.GaussianBlur(small, (0, 0), defocus)
    if photo.motion > 1:
        kernel = _motion_kernel(photo.motion, photo.motion_angle)
        small = cv2.filter2D(small, -1, kernel, borderType=cv2.BORDER_REPLICATE)
    if photo.noise > 1:
        small = cv2.add(small, _noise(small.shape[0], photo.noise, dice), dtype=cv2.CV_8U)
    if photo.quality:
        flags = (cv2.IMWRITE_JPEG_QUALITY, photo.quality)
        small = np.asarray(cv2.imdecode(cv2.imencode(".jpg", small, flags)[1], 1), np.uint8)
    if small.shape[0] != size:
        small = cv2.resize(small, (size, size), interpolation=cv2.INTER_CUBIC)
    if photo.sharpen:
        soft = cv2.GaussianBlur(small, (0, 0), 1.3)
        small = cv2.addWeighted(small, 1 + photo.sharpen, soft, -photo.sharpen, 0)
    return np.asarray(small, np.uint8)


def add_shadow(scene: View, dice: Dice) -> None:
    """Shade a part of the view: by leaves, by a straight edge, or softly to one side."""
    size = scene.shape[0]
    kind = dice.fraction()
    if kind < 0.35:
        share = leaf_mask(size, dice.between(0.2, 0.6), dice)
    else:
        angle = dice.between(0, 2 * math.pi)
        line = np.linspace(-1, 1, size, dtype=np.float32)
        along = line[:, None] * np.float32(math.sin(angle)) + line * np.float32(math.cos(angle))
        steep = 9.0 if kind < 0.65 else 0.8
        share = np.clip((along + np.float32(dice.bell(0.3))) * steep + 0.5, 0, 1)
    shade(scene, 1 - share * np.float32(dice.between(0.25, 0.7)))


def shade(scene: View, factor: Canvas) -> None:
    """Darken each pixel of the scene by its factor."""
    import cv2

    # NumPy takes three steps for each pixel where it has to repeat a factor for three colours.
    factors = cv2.cvtColor(factor, cv2.COLOR_GRAY2RGB)
    scene[...] = cv2.multiply(scene, factors, dtype=cv2.CV_32F)


def lay_over(scene: View, colour: Colour, share: Canvas) -> None:
    """Lay a colour over the scene; each pixel takes its share of it."""
    import cv2

    rows = scene.reshape(scene.shape[0], -1)
    over = np.tile(np.asarray(colour, np.float32), scene.shape[1])
    shares = cv2.cvtColor(share, cv2.COLOR_GRAY2RGB).reshape(rows.shape)
    scene[...] = (rows + (over - rows) * shares).reshape(scene.shape)


def smear(view: View, dice: Dice) -> View:
    """Blur a part of the view beyond reading, as where pictures were joined or hidden."""
    import cv2

    size = view.shape[0]
    soft = cv2.GaussianBlur(view, (0, 0), dice.between(3, 7)).astype(np.float32)
    middle = dice.between(0.2, 0.8) * size, dice.between(0.2, 0.8) * size
    reach = dice.between(0.15, 0.45) * size
    rows = (np.arange(size, dtype=np.float32)[:, None] - np.float32(middle[1])) / np.float32(reach)
    columns = (np.arange(size, dtype=np.float32) - np.float32(middle[0])) / np.float32(reach * 1.5)
    share = np.clip((1.25 - np.hypot(rows, columns)) * 2.5, 0, 1)
    shares = cv2.cvtColor(share, cv2.COLOR_GRAY2RGB)
    return np.asarray(view + (soft - view) * shares, np.uint8)


def _table(dice: Dice, light: Light) -> npt.NDArray[np.uint8]:
    """Return the exposure as a table, for each colour a row of 256 values."""
    gain = light.gain * math.exp(dice.bell(0.16))
    contrast = min(light.contrast * math.exp(dice.bell(0.08)), 1.45 / gain)
    values = _LEVELS ** (light.gamma * math.exp(dice.bell(0.08)))
    values = ((values - 0.4) * contrast + 0.4) * gain + dice.low_between(0, 0.08)
    balance = np.array([[part * (1 + dice.bell(0.015))] for part in light.balance])
    return np.maximum(np.minimum(values * balance * 255, 255), 0).astype(np.uint8)


def _exposed(scene: View, table: npt.NDArray[np.uint8], side: int) -> View:
    """Return the scene through the table, its side made that small."""
    import cv2

    size = scene.shape[0]
    if size % side == 0:
        exposed = _look_up(scene, table)
        return np.asarray(cv2.resize(exposed, (side, side), interpolation=cv2.INTER_AREA), np.uint8)
    # OpenCV adds parts of bytes as floats: given floats, it has the same sums a third sooner.
    exposed = _look_up(scene, table.astype(np.float32))
    small = cv2.resize(exposed, (side, side), interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.convertScaleAbs(small), np.uint8)


def _look_up(scene: View, table: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Look the colours up one by one: OpenCV is twice as quick at that as at all three at once."""
    import cv2

    colours = [cv2.LUT(values, row) for values, row in zip(cv2.split(scene), table, strict=True)]
    return np.asarray(cv2.merge(colours))


def _noise(size: int, strength: float, dice: Dice) -> npt.NDArray[np.int16]:
    bank = _noise_bank()
    top, left = dice.whole(0, _NOISE - size), dice.whole(0, _NOISE - size)
    piece = bank[top : top + size, left : left + size]
    return (piece * np.float32(strength)).astype(np.int16)


@lru_cache(maxsize=1)
def _noise_bank() -> npt.NDArray[np.float32]:
    generator = np.random.default_rng(11)
    grey = generator.standard_normal((_NOISE, _NOISE, 1)).astype(np.float32)
    return grey * 0.8 + generator.standard_normal((_NOISE, _NOISE, 3)).astype(np.float32) * 0.5


@lru_cache(maxsize=64)
def _motion_kernel(length: int, angle: int) -> npt.NDArray[np.float32]:
    import cv2

    size = 2 * (length // 2) + 3
    middle = size // 2
    kernel = np.zeros((size, size), np.float32)
    turn = math.pi * angle / 8
    across, down = math.cos(turn) * length / 2, math.sin(turn) * length / 2
    ends = [(round((middle + s * across) * 16), round((middle + s * down) * 16)) for s in (-1, 1)]
    cv2.line(kernel, ends[0], ends[1], 1.0, 1, cv2.LINE_8, 4)
    return kernel / kernel.sum()
