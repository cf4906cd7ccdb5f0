"""From the values of photographs and signs to what a network takes.

Shapes: B pictures of V views (photographs are one), each H W pixels.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

from trainferry.devices.device import channels_last_helps
from trainferry.devices.kernels import runs_kernels_on
from trainferry.train.kernels.pictures import normalise_pictures
from trainferry.train.recipe.tasks import PhotoPicture, SignPicture

_PLAIN = (1.0, 1.0, 1.0)


def planes_of(images: Tensor) -> Tensor:
    """Map pictures, B H W 3, to B 3 H W, without a copy."""
    return images.permute(0, 3, 1, 2)


def normalised(values: Tensor, picture: PhotoPicture | SignPicture, views: int = 1) -> Tensor:
    """Subtract the mean of the recipe and divide by its deviation, in the device's best layout.

    Values are 0 to 255, bytes or not, and float32 afterwards. Views that lie one after the other,
    B*V 3 H W, are put side by side, B 3 H V*W.
    """
    mean = per_channel(picture.mean, values.device)
    deviation = None
    if picture.deviation != _PLAIN:
        deviation = per_channel(picture.deviation, values.device)
    if channels_last_helps(values.device) and runs_kernels_on(values.device):
        return normalise_pictures(values, mean, deviation, views)
    values = join_views(values.float(), views) - mean
    if deviation is not None:
        values = values / deviation
    if channels_last_helps(values.device):
        return values.contiguous(memory_format=torch.channels_last)
    return values.contiguous()


def split_views(values: Tensor, views: int) -> Tensor:
    """Stack the views, B 3 H V*W, on each other, those of a picture together: B*V 3 H W."""
    return values.unflatten(3, (views, -1)).permute(0, 3, 1, 2, 4).flatten(0, 1)


def join_views(stacked: Tensor, views: int) -> Tensor:
    """Put the views of each picture side by side: the inverse of `split_views`."""
    if views == 1:
        return stacked
    return stacked.unflatten(0, (-1, views)).permute(0, 2, 3, 1, 4).flatten(3)


@lru_cache(maxsize=16)
def per_channel(numbers: tuple[float, ...], device: torch.device) -> Tensor:
    """Return one number per channel, 3 1 1; kept, because sending them makes a device wait."""
    return torch.tensor(numbers, dtype=torch.float32).view(-1, 1, 1).to(device)
