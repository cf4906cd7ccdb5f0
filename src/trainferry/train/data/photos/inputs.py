"""From the values of a batch of photographs to what a network takes."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

from trainferry.devices.device import channels_last_helps
from trainferry.train.recipe.tasks import PhotoPicture


def photo_values(images: Tensor) -> Tensor:
    """Map pictures, B H W 3, bytes or not, to float32 values 0 to 255, B 3 H W."""
    return images.permute(0, 3, 1, 2).float()


def normalised(values: Tensor, picture: PhotoPicture) -> Tensor:
    """Subtract the mean of the recipe and divide by its deviation, in the device's best layout."""
    values = values - per_channel(picture.mean, values.device)
    if picture.deviation != (1.0, 1.0, 1.0):
        values = values / per_channel(picture.deviation, values.device)
    if channels_last_helps(values.device):
        return values.contiguous(memory_format=torch.channels_last)
    return values.contiguous()


@lru_cache(maxsize=16)
def per_channel(numbers: tuple[float, ...], device: torch.device) -> Tensor:
    """Return one number per channel, 3 1 1; kept, because sending them makes a device wait."""
    return torch.tensor(numbers, dtype=torch.float32).view(-1, 1, 1).to(device)
