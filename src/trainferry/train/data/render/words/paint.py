"""Letters become coloured: outline, shadow, relief, gradient, glow, lamps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trainferry.train.data.render.words.fonts import Mask
from trainferry.train.data.render.words.warp import Layers

Canvas = npt.NDArray[np.float32]
Colour = tuple[float, float, float]

NO_RELIEF = 128


@dataclass(frozen=True)
class Shade:
    """What lies behind the letters: a shadow, the side walls of solid letters, or a glow."""

    across: float
    down: float
    softness: float
    strength: float
    colour: Colour
    solid: bool = False


@dataclass(frozen=True)
class Paint:
    """Colours are red, green, blue from 0 to 255; widths are pixels of the flat letters."""

    ink: Colour
    ground: Colour
    outline: int = 0
    outline_colour: Colour = (0.0, 0.0, 0.0)
    hollow: int = 0
    shade: Shade | None = None
    relief: float = 0.0
    gradient: Colour = (0.0, 0.0, 0.0)
    gradient_across: bool = False
    ink_texture: float = 0.0
    lamps: bool = False
    opacity: float = 1.0


def build_layers(ink: Mask, paint: Paint) -> Layers:
    """Return height, width, 4: letters, outline, shade, relief (128 is flat)."""
    import cv2

    layers = np.zeros((*ink.shape, 4), np.uint8)
    layers[..., 3] = NO_RELIEF
    body = ink
    if paint.outline:
        kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * paint.outline + 1,) * 2)
        body = cv2.dilate(ink, kernel).astype(np.uint8, copy=False)
        layers[..., 1] = body
    if paint.hollow:
        kernel = np.ones((paint.hollow, paint.hollow), np.uint8)
        ink = cv2.morphologyEx(ink, cv2.MORPH_GRADIENT, kernel).astype(np.uint8, copy=False)
    if paint.lamps:
        ink = _lamps(ink)
    layers[..., 0] = ink
    if paint.shade:
        layers[..., 2] = _shade(body, paint.shade)
    if paint.relief:
        soft = cv2.blur(ink, (3, 3)).astype(np.uint8, copy=False)
        light = cv2.subtract(_moved(soft, 2, 2), _moved(soft, -2, -2))
        dark = cv2.subtract(_moved(soft, -2, -2), _moved(soft, 2, 2))
        layers[..., 3] = NO_RELIEF + (dark // 2) - (light // 2)
    return layers


def lay_on(canvas: Canvas, layers: Layers, paint: Paint, texture: Canvas | None) -> Canvas:
    """Paint the layers over the background, from back to front."""
    planes = layers.astype(np.float32) * np.float32(1 / 255)
    if paint.shade:
        _cover(canvas, planes[..., 2] * np.float32(paint.shade.strength), paint.shade.colour)
    if paint.outline:
        _cover(canvas, planes[..., 1], paint.outline_colour)
    ink: Canvas | Colour = paint.ink
    if any(paint.gradient):
        ink = _gradient(paint, canvas.shape)
    if texture is not None:
        base = np.asarray(ink, np.float32)
        ink = base + texture[..., None] * np.float32(paint.ink_texture)
    _cover(canvas, planes[..., 0] * np.float32(paint.opacity), ink)
    if paint.relief:
        lift = (planes[..., 3:] * 255 - NO_RELIEF) * np.float32(paint.relief)
        canvas += lift
    return canvas


def _cover(canvas: Canvas, share: Canvas, colour: Canvas | Colour) -> None:
    top = np.asarray(colour, np.float32)
    canvas += (top - canvas) * share[..., None]


def _gradient(paint: Paint, shape: tuple[int, ...]) -> Canvas:
    height, width = shape[:2]
    length = width if paint.gradient_across else height
    ramp = np.linspace(-1, 1, length, dtype=np.float32)
    ramp = ramp[None, :, None] if paint.gradient_across else ramp[:, None, None]
    return np.asarray(paint.ink, np.float32) + ramp * np.asarray(paint.gradient, np.float32)


def _shade(body: Mask, shade: Shade) -> Mask:
    import cv2

    if shade.solid:
        reach = int(max(abs(shade.across), abs(shade.down))) + 1
        kernel = np.zeros((2 * reach + 1, 2 * reach + 1), np.uint8)
        end = (reach - round(shade.across), reach - round(shade.down))
        cv2.line(kernel, (reach, reach), end, 1)
        out = cv2.dilate(body, np.ascontiguousarray(kernel))
    else:
        out = _moved(body, round(shade.across), round(shade.down))
    if shade.softness > 0.6:
        size = 2 * round(shade.softness) + 1
        out = cv2.blur(cv2.blur(out, (size, size)), (size, size))
    return out.astype(np.uint8, copy=False)


def _moved(mask: Mask, across: int, down: int) -> Mask:
    out = np.zeros_like(mask)
    height, width = mask.shape
    out[max(0, down) : height + min(0, down), max(0, across) : width + min(0, across)] = mask[
        max(0, -down) : height - max(0, down), max(0, -across) : width - max(0, across)
    ]
    return out


def _lamps(ink: Mask) -> Mask:
    """Replace strokes by rows of round lamps."""
    period = 5
    grid = np.zeros((period, period), np.uint8)
    grid[1:4, 1:4] = 255
    grid[1:4:2, 1:4:2] = 170
    rows, columns = -(-ink.shape[0] // period), -(-ink.shape[1] // period)
    return np.minimum(ink, np.tile(grid, (rows, columns))[: ink.shape[0], : ink.shape[1]])
