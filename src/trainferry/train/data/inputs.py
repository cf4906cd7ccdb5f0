"""From the bytes of a batch of pictures to what a network takes."""

from __future__ import annotations

import torch
from torch import Tensor

from trainferry.devices.device import channels_last_helps
from trainferry.train.data.share import WHOLE, Share
from trainferry.train.data.words.augment import augment
from trainferry.train.recipe.tasks import WordAugment, WordPicture


def network_input(
    images: Tensor,
    picture: WordPicture,
    variation: WordAugment | None = None,
    share: Share = WHOLE,
) -> Tensor:
    """Map bytes, B H W C, to values, B C H W, varied if asked, in the range of the recipe."""
    values = images.permute(0, 3, 1, 2).float()
    if variation is not None and variation != WordAugment():
        values = augment(values, variation, share)
    values = values / 127.5 - 1 if picture.scale == "unit" else (values - 127.5) / 255
    if channels_last_helps(images.device):
        return values.contiguous(memory_format=torch.channels_last)
    return values.contiguous()
