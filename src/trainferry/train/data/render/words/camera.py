"""What light and camera do to the scene: blur, exposure, noise, compression."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from trainferry.train.data.render.words.dice import Dice
from trainferry.train.data.render.words.paint import Canvas

Picture = npt.NDArray[np.uint8]

_NOISE_SIZE = 512


@dataclass(frozen=True)
class Camera:
    """The way to the stored picture.

    Blurs are in 1/26 of the text's height, light is a factor at the far side.
    """

    height: int
    defocus: float = 0.0
    motion: float = 0.0
    motion_angle: float = 0.0
    light: float = 1.0
    light_angle: float = 0.0
    hard_shadow: bool = False
    black: float = 0.0
    white: float = 255.0
    gamma: float = 1.0
    balance: tuple[float, float, float] = (1.0, 1.0, 1.0)
    grey: bool = False
    noise: float = 0.0
    noise_grey: bool = False
    sharpen: float = 0.0
    quality: int = 90


def take_picture(scene: Canvas, camera: Camera, unit: float, dice: Dice) -> Picture:
    """Photograph the scene; `unit` is the pixels of one blur unit. Compression comes later."""
    import cv2

    defocus, motion = camera.defocus * unit, round(camera.motion * unit)
    if camera.light != 1.0:
        scene = scene * _light(scene.shape, camera)[..., None]
    if defocus > 0.25:
        scene = cv2.GaussianBlur(  # type: ignore[assignment]  # cv2 has no narrower type
            scene, (0, 0), defocus, borderType=cv2.BORDER_REPLICATE
        )
    if motion > 1:
        kernel = _motion_kernel(motion, camera.motion_angle)
        scene = cv2.filter2D(  # type: ignore[assignment]  # cv2 has no narrower type
            scene, -1, kernel, borderType=cv2.BORDER_REPLICATE
        )
    scene = _expose(scene, camera)
    if camera.noise:
        scene = scene + _noise(scene.shape, camera, dice)
    if camera.sharpen:
        soft = cv2.GaussianBlur(scene, (0, 0), 1.2)
        scene = scene + (scene - soft) * np.float32(camera.sharpen)
    picture = np.clip(scene, 0, 255).astype(np.uint8)
    if camera.grey:
        picture[:] = picture.mean(axis=2, keepdims=True).astype(np.uint8)
    return picture


def _expose(scene: Canvas, camera: Camera) -> Canvas:
    import cv2

    curve = np.linspace(0, 1, 256, dtype=np.float32)[:, None] ** np.float32(camera.gamma)
    gain = np.asarray(camera.balance, np.float32) * np.float32(camera.white - camera.black)
    table = curve * gain + np.float32(camera.black)
    picture = np.clip(scene, 0, 255).astype(np.uint8)
    return cv2.LUT(picture, table[None]).astype(np.float32, copy=False)


def _light(shape: tuple[int, ...], camera: Camera) -> Canvas:
    """Return light falling off over the picture, or a shadow with an edge across it."""
    height, width = shape[:2]
    rows = np.linspace(-1, 1, height, dtype=np.float32)[:, None]
    columns = np.linspace(-1, 1, width, dtype=np.float32)[None]
    along = rows * np.float32(np.sin(camera.light_angle))
    along = along + columns * np.float32(np.cos(camera.light_angle))
    share = np.clip(along * (8 if camera.hard_shadow else 0.7) + 0.5, 0, 1)
    return 1 + share * np.float32(camera.light - 1)


@lru_cache(maxsize=512)
def _motion_kernel(length: int, angle: float) -> npt.NDArray[np.float32]:
    import cv2

    size = 2 * (length // 2) + 3
    middle = size // 2
    kernel = np.zeros((size, size), np.float32)
    across, down = np.cos(angle) * length / 2, np.sin(angle) * length / 2
    start, end = (middle - across, middle - down), (middle + across, middle + down)
    fixed = [(round(x * 16), round(y * 16)) for x, y in (start, end)]
    cv2.line(kernel, fixed[0], fixed[1], 1.0, 1, cv2.LINE_8, 4)
    return kernel / kernel.sum()


@lru_cache(maxsize=1)
def _noise_bank() -> npt.NDArray[np.float32]:
    import cv2

    generator = np.random.default_rng(7)
    fine = generator.standard_normal((_NOISE_SIZE, _NOISE_SIZE, 3)).astype(np.float32)
    coarse = cv2.GaussianBlur(fine[::-1], (0, 0), 0.8) * 2.4
    fine[:, _NOISE_SIZE // 2 :] = coarse[:, _NOISE_SIZE // 2 :]
    return fine


def _noise(shape: tuple[int, ...], camera: Camera, dice: Dice) -> Canvas:
    bank = _noise_bank()
    top = dice.whole(0, _NOISE_SIZE - shape[0])
    piece = bank[top : top + shape[0]]
    if shape[1] > _NOISE_SIZE:
        piece = np.tile(piece, (1, 1 + shape[1] // _NOISE_SIZE, 1))
    left = dice.whole(0, piece.shape[1] - shape[1])
    piece = piece[:, left : left + shape[1]]
    if camera.noise_grey:
        piece = piece[..., :1]
    return piece * np.float32(camera.noise)
