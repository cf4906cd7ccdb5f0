"""From the bytes of a batch of signs to what a network takes.

Shapes: B signs, V views side by side, each H W pixels.
"""

from __future__ import annotations

import torch
from torch import Tensor

from trainferry.devices.device import channels_last_helps
from trainferry.train.data.photos.inputs import per_channel
from trainferry.train.recipe.tasks import SignPicture


def sign_values(images: Tensor) -> Tensor:
    """Map pictures, B H V*W 3, bytes or not, to float32 values 0 to 255, B 3 H V*W."""
    return sign_planes(images).float()


def sign_planes(images: Tensor) -> Tensor:
    """Map pictures, B H V*W 3, to B 3 H V*W, without a copy."""
    return images.permute(0, 3, 1, 2)


def split_views(values: Tensor, views: int) -> Tensor:
    """Stack the views, B 3 H V*W, on each other, those of a sign together: B*V 3 H W."""
    return values.unflatten(3, (views, -1)).permute(0, 3, 1, 2, 4).flatten(0, 1)


def join_views(stacked: Tensor, views: int) -> Tensor:
    """Put the views back side by side: the inverse of `split_views`."""
    return stacked.unflatten(0, (-1, views)).permute(0, 2, 3, 1, 4).flatten(3)


def normalised(values: Tensor, picture: SignPicture) -> Tensor:
    """Subtract the mean of the recipe and divide by its deviation, in the device's best layout."""
    values = values - per_channel(picture.mean, values.device)
    values = values / per_channel(picture.deviation, values.device)
    if channels_last_helps(values.device):
        return values.contiguous(memory_format=torch.channels_last)
    return values.contiguous()
