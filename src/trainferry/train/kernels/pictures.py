"""From pictures to what a network takes, in one pass.

Subtracts the mean of each channel and divides by its deviation; views of a picture that lie one
after the other are put side by side. `normalised` of `data/normalise.py` does the same with
several passes, and is the reference.
"""

from __future__ import annotations

import torch
from torch import Tensor

_VALUES = 1024  # of one program


def normalise_pictures(
    values: Tensor, mean: Tensor, deviation: Tensor | None, views: int = 1
) -> Tensor:
    """Map pictures, B*V C H W, bytes or not, to float32, B C H V*W in channels-last memory.

    Mean and deviation have a number for each channel.
    """
    from trainferry.train.kernels.programs.pictures import normalise_row

    count, channels, height, width = values.shape
    result = torch.empty(
        (count // views, channels, height, views * width),
        dtype=torch.float32,
        device=values.device,
        memory_format=torch.channels_last,
    )
    if result.numel() == 0:
        return result
    rows, each = count // views * height, views * width * channels
    normalise_row[rows, -(-each // _VALUES)](
        *(values, mean, mean if deviation is None else deviation, result, height, width),
        *values.stride(),
        VIEWS=views,
        CHANNELS=channels,
        DIVIDES=deviation is not None,
        VALUES=_VALUES,
    )
    return result
