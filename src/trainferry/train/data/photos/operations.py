"""The operations of RandAugment, each on several pictures at once.

Cubuk, Zoph, Shlens and Le, 2019, https://arxiv.org/abs/1909.13719; what they do to bytes is what
Pillow does, and how far they go at strength 1 is what torchvision does at magnitude 30.

Shapes: B pictures, 3 H W, values 0 to 255. Moves turn strengths, B, from -1 to 1, into maps, B 2 3,
on the CPU, and many of them are drawn at once; changes take pictures and strengths, B 1 1 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor
from torch.nn import functional

Move: TypeAlias = Callable[[Tensor], Tensor]
Change: TypeAlias = Callable[[Tensor, Tensor], Tensor]

_MOST_DEGREES = 30.0
_MOST_SHEAR = 0.3
_MOST_SHIFT = 150 / 331  # of the side
_MOST_CHANGE = 0.9
_BITS_LOST = 4.0
_LIGHTNESS = (0.299, 0.587, 0.114)


def rotate(strength: Tensor) -> Tensor:
    angle = math.radians(_MOST_DEGREES) * strength
    maps = _standing_still(strength)
    maps[:, 0, 0] = maps[:, 1, 1] = torch.cos(angle)
    maps[:, 1, 0] = torch.sin(angle)
    maps[:, 0, 1] = -torch.sin(angle)
    return maps


def shear_x(strength: Tensor) -> Tensor:
    maps = _standing_still(strength)
    maps[:, 0, 1] = _MOST_SHEAR * strength
    return maps


def shear_y(strength: Tensor) -> Tensor:
    maps = _standing_still(strength)
    maps[:, 1, 0] = _MOST_SHEAR * strength
    return maps


def translate_x(strength: Tensor) -> Tensor:
    maps = _standing_still(strength)
    maps[:, 0, 2] = -_MOST_SHIFT * strength
    return maps


def translate_y(strength: Tensor) -> Tensor:
    maps = _standing_still(strength)
    maps[:, 1, 2] = -_MOST_SHIFT * strength
    return maps


def move_pictures(images: Tensor, maps: Tensor, outside: Tensor) -> Tensor:
    """Take every pixel from the place that the map of its picture gives.

    A map tells x and y, in pixels from the middle, of x, y and the side of the picture.
    `outside`, 3 1 1, is what comes in over the edges.
    """
    height, width = images.shape[2:]
    y = torch.arange(height, dtype=torch.float32, device=images.device)[:, None] - (height - 1) / 2
    x = torch.arange(width, dtype=torch.float32, device=images.device) - (width - 1) / 2
    to_x, to_y = maps[..., None, None].unbind(1)
    from_x = to_x[:, 0] * x + to_x[:, 1] * y + to_x[:, 2] * width
    from_y = to_y[:, 0] * x + to_y[:, 1] * y + to_y[:, 2] * height
    places = torch.stack((from_x * (2 / width), from_y * (2 / height)), dim=-1)
    moved = functional.grid_sample(images - outside, places, align_corners=False)
    return (moved + outside).clamp(0, 255)


def identity(images: Tensor, strength: Tensor) -> Tensor:
    del strength
    return images


def brightness(images: Tensor, strength: Tensor) -> Tensor:
    return _away_from(torch.zeros_like(strength), images, strength)


def colour(images: Tensor, strength: Tensor) -> Tensor:
    return _away_from(_lightness(images), images, strength)


def contrast(images: Tensor, strength: Tensor) -> Tensor:
    return _away_from(_lightness(images).mean(dim=(1, 2, 3), keepdim=True), images, strength)


def sharpness(images: Tensor, strength: Tensor) -> Tensor:
    """Blur or sharpen all but the outermost pixels."""
    inner = images[:, :, 1:-1, 1:-1]
    smooth = (9 * functional.avg_pool2d(images, 3, 1) + 4 * inner) / 13
    return _away_from(functional.pad(smooth - inner, (1, 1, 1, 1)) + images, images, strength)


def posterize(images: Tensor, strength: Tensor) -> Tensor:
    """Keep 8 to 4 bits of each value."""
    step = torch.exp2(torch.round(_BITS_LOST * strength.abs()))
    return torch.floor(images / step) * step


def solarize(images: Tensor, strength: Tensor) -> Tensor:
    """Turn values above a limit into their negative."""
    return torch.where(images < 255 * (1 - strength.abs()), images, 255 - images)


def autocontrast(images: Tensor, strength: Tensor) -> Tensor:
    """Stretch each channel over all values."""
    del strength
    low = images.amin(dim=(2, 3), keepdim=True)
    reach = images.amax(dim=(2, 3), keepdim=True) - low
    stretched = (images - low) * (255 / reach.clamp(min=1e-3))
    return torch.where(reach > 0, stretched.clamp(0, 255), images)


def equalize(images: Tensor, strength: Tensor) -> Tensor:
    """Spread each channel so that all values are equally frequent."""
    del strength
    count, channels, height, width = images.shape
    values = images.round().clamp(0, 255).long().reshape(count, channels, height * width)
    ones = torch.ones_like(values, dtype=torch.float32)
    frequency = torch.zeros(count, channels, 256, device=images.device)
    frequency = frequency.scatter_add_(2, values, ones)
    highest = values.amax(dim=2, keepdim=True)
    step = torch.floor((height * width - frequency.gather(2, highest)) / 255)
    below = frequency.cumsum(2) - frequency
    table = torch.floor((torch.floor(step / 2) + below) / step.clamp(min=1)).clamp(0, 255)
    spread = table.gather(2, values).reshape(images.shape)
    return torch.where(step[..., None] > 0, spread, images)


MOVES: tuple[Move, ...] = (rotate, shear_x, shear_y, translate_x, translate_y)
CHANGES: tuple[Change, ...] = (
    *(identity, brightness, colour, contrast, sharpness),
    *(posterize, solarize, autocontrast, equalize),
)


def _standing_still(strength: Tensor) -> Tensor:
    return torch.eye(2, 3).repeat(len(strength), 1, 1)


def _away_from(origin: Tensor, images: Tensor, strength: Tensor) -> Tensor:
    """Move values away from `origin`, or towards it where the strength is negative."""
    return (origin + (images - origin) * (1 + _MOST_CHANGE * strength)).clamp(0, 255)


def _lightness(images: Tensor) -> Tensor:
    red, green, blue = (
        weight * channel for weight, channel in zip(_LIGHTNESS, images.split(1, 1), strict=True)
    )
    return red + green + blue
