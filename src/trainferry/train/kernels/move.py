"""Moving the pixels of views in one device program, without a tensor of places.

The same function as `move_views` of `data/signs/augment.py`, which is the reference.
"""

from __future__ import annotations

import torch
from torch import Tensor

_PIXELS = 512  # of one program


def move_pictures(views: Tensor, maps: Tensor) -> Tensor:
    """Take every pixel of views, N C H W, bytes or not, from the place that its map, 3 3, gives."""
    from trainferry.train.kernels.programs.move import move_pixels

    count, channels, height, width = views.shape
    moved = maps.new_empty(views.shape, dtype=torch.float32)
    if moved.numel() == 0:
        return moved
    move_pixels[count, -(-height * width // _PIXELS)](
        views,
        maps.contiguous(),
        moved,
        height,
        width,
        *views.stride(),
        CHANNELS=channels,
        PIXELS=_PIXELS,
    )
    return moved
