"""Four kinds of blur in one device program, which spends time only on pictures that have one.

The same function as the blur of `data/words/augment.py`, which is the reference. Each kind weighs
rows and columns apart from each other, and no pixel counts that is more than three away. The
weights are what the reference makes of rows with a single pixel in them.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor
from torch.nn import functional

KINDS = 4

_PIXELS, _WARPS = 512, 8  # of one program: with more pixels for a thread, registers spill


def blur_pictures(pictures: Tensor, blurs: Tensor) -> Tensor:
    """Blur pictures, N C H W, at least 2 x 2; values stay between 0 and 255.

    `blurs`, N 2, holds for each picture the number of its kind (0 soft, 1 softer, 2 smeared
    sideways, 3 coarse, 4 none) and how much of it there is, from 0 to 1.
    """
    from trainferry.train.kernels.programs.blur import blur_planes

    count, channels, height, width = pictures.shape
    blurred = torch.empty_like(pictures, dtype=torch.float32)
    if blurred.numel() == 0:
        return blurred
    radius = 3 if height % 2 or width % 2 else 2
    blur_planes[count * channels, -(-height * width // _PIXELS)](
        pictures,
        blurs.contiguous(),
        _weights(height, radius, pictures.device, smeared=False),
        _weights(width, radius, pictures.device, smeared=True),
        blurred,
        channels,
        height,
        width,
        *pictures.stride(),
        *blurred.stride(),
        KINDS=KINDS,
        RADIUS=radius,
        PIXELS=_PIXELS,
        num_warps=_WARPS,
    )
    return blurred


@lru_cache(maxsize=32)
def _weights(length: int, radius: int, device: torch.device, *, smeared: bool) -> Tensor:
    """Weigh the pixels around each of a row, for every kind: 4 `length` 2*radius+1."""
    single = torch.eye(length)[:, None]  # row r has its only pixel at r
    soft = functional.avg_pool1d(single, 3, 1, 1, count_include_pad=False)
    softer = functional.avg_pool1d(soft, 3, 1, 1, count_include_pad=False)
    smear = functional.avg_pool1d(single, 5, 1, 2, count_include_pad=False) if smeared else single
    small = functional.interpolate(single, length // 2, mode="area")
    coarse = functional.interpolate(small, length, mode="linear")
    kinds = torch.stack([soft, softer, smear, coarse])[:, :, 0].transpose(1, 2)
    padded = functional.pad(kinds, (radius, radius))
    near = torch.arange(length)[:, None] + torch.arange(2 * radius + 1)
    return padded.gather(2, near.expand(KINDS, -1, -1)).to(device)
