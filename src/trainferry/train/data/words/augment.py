"""Variation of training pictures, for a whole batch at once and on the device.

Random numbers that decide per picture are drawn on the CPU, so that every device
varies the pictures alike. Shapes: B pictures, 3 H W, values 0 to 255.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

from trainferry.devices.device import send
from trainferry.devices.kernels import runs_kernels
from trainferry.train.data.share import WHOLE, Share
from trainferry.train.kernels.blur import KINDS, blur_pictures
from trainferry.train.kernels.noise import add_noise
from trainferry.train.kernels.noise import takes as takes_noise
from trainferry.train.recipe.tasks import WordAugment


def augment(images: Tensor, recipe: WordAugment, share: Share = WHOLE) -> Tensor:
    """Bend, colour, blur and disturb pictures as much as the recipe says."""
    if recipe.geometry:
        images = _bend(images, recipe.geometry, share)
    if recipe.blur:
        images = blur(images, recipe.blur, share)
    if recipe.colour:
        images = _colour(images, recipe.colour, share)
    if recipe.noise:
        return disturb(images, recipe.noise, share)
    return images.clamp(0, 255)


def blur(images: Tensor, strength: float, share: Share = WHOLE) -> Tensor:
    """Defocus some, smear some sideways, and take resolution from others."""
    drawn, much = _draw(2, images, share)
    ends = torch.tensor([number * (0.12 * strength) for number in range(1, KINDS + 1)])
    kind = (drawn >= ends[:, None]).sum(0)
    blurs = send(torch.stack([kind, 0.3 + (1.0 - 0.3) * much], 1), images.device)
    if runs_kernels(images) and min(images.shape[2:]) >= 2:
        return blur_pictures(images, blurs)
    kind, much = blurs.t()[..., None, None, None]
    for number, blurred in enumerate(_blurred(images)):
        images = torch.where(kind == number, torch.lerp(images, blurred, much), images)
    return images.clamp(0, 255)


def disturb(images: Tensor, strength: float, share: Share = WHOLE) -> Tensor:
    """Add sensor noise, none to half of the pictures."""
    (drawn,) = _draw(1, images, share)
    amounts = send((2 * drawn - 1).clamp(min=0) * 24 * strength, images.device)
    noise = share.normal_like(images)
    if takes_noise(images, noise):
        return add_noise(images, noise, amounts)
    return (images + noise * amounts[:, None, None, None]).clamp(0, 255)


def _bend(images: Tensor, strength: float, share: Share) -> Tensor:
    """Rotate, shear, scale, shift, tilt in perspective and wave a little."""
    _, _, height, width = images.shape
    draw = _Draw(11, images, share)
    angle = draw.around(math.radians(9) * strength)
    shear = draw.around(0.30 * strength)
    scale_x = 1 + draw.around(0.10 * strength)
    scale_y = 1 + draw.around(0.14 * strength)
    aspect = width / height / 3.0  # a word of the usual length was about three times as wide
    cosine, sine = torch.cos(angle), torch.sin(angle)

    y, x = torch.meshgrid(
        torch.linspace(-1, 1, height, device=images.device),
        torch.linspace(-1, 1, width, device=images.device),
        indexing="ij",
    )
    x, y = x[None], y[None]
    depth = 1 + draw.around(0.16 * strength) * x + draw.around(0.16 * strength) * y
    turned_x = scale_x * (cosine * x + sine * y / (3.0 * aspect)) + shear * y / 3.0
    turned_y = scale_y * (cosine * y - 3.0 * aspect * sine * x)
    wave = draw.around(0.12 * strength) * torch.sin(
        math.pi * (draw.between(0.5, 1.5) * x + draw.around(1.0))
    )
    grid_x = turned_x / depth + draw.around(0.05 * strength)
    grid_y = turned_y / depth + draw.around(0.12 * strength) + wave
    grid = torch.stack((grid_x, grid_y), dim=-1)
    return functional.grid_sample(
        images, grid.to(images.dtype), padding_mode="border", align_corners=True
    )


def _blurred(images: Tensor) -> tuple[Tensor, ...]:
    """Blur all pictures in each of the four ways."""
    height, width = images.shape[2:]
    soft = functional.avg_pool2d(images, 3, 1, 1, count_include_pad=False)
    softer = functional.avg_pool2d(soft, 3, 1, 1, count_include_pad=False)
    smeared = functional.avg_pool2d(images, (1, 5), 1, (0, 2), count_include_pad=False)
    small = functional.interpolate(images, (height // 2, width // 2), mode="area")
    coarse = functional.interpolate(small, (height, width), mode="bilinear")
    return soft, softer, smeared, coarse


def _colour(images: Tensor, strength: float, share: Share) -> Tensor:
    """Change contrast, brightness, saturation and tint; turn some into their negative."""
    draw = _Draw(8, images, share)
    contrast, brightness = 1 + draw.around(0.5 * strength), draw.around(60 * strength)
    saturation = 1 + draw.around(strength)
    tint = torch.cat([draw.around(25 * strength) for _ in range(3)], dim=1)[..., None]
    negative, grey = draw.unit() < 0.12 * strength, draw.unit() < 0.10 * strength
    middle = images.mean(dim=(1, 2, 3), keepdim=True)
    lightness = images.mean(dim=1, keepdim=True)
    saturation = torch.where(grey, torch.zeros_like(saturation), saturation)[..., None]
    images = lightness + (images - lightness) * saturation
    images = middle + (images - middle) * contrast[..., None] + brightness[..., None] + tint
    return torch.where(negative[..., None], 255 - images, images)


def _draw(numbers: int, images: Tensor, share: Share) -> Tensor:
    """Draw random numbers for each picture of this rank, on the CPU: `numbers` B."""
    return share.own(torch.rand(numbers, share.whole(len(images))), 1)


class _Draw:
    """Per-picture random numbers, B 1 1 each, in the order they are asked for."""

    def __init__(self, numbers: int, images: Tensor, share: Share) -> None:
        drawn = send(_draw(numbers, images, share), images.device)
        self._columns = iter(drawn[..., None, None].unbind())

    def unit(self) -> Tensor:
        return next(self._columns)

    def between(self, low: float, high: float) -> Tensor:
        return low + (high - low) * self.unit()

    def around(self, reach: float) -> Tensor:
        return self.between(-reach, reach)
