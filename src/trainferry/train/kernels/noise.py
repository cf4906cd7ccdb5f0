"""Adding noise to pictures and cutting off what is too much, in one device program.

The same function as the noise of `data/words/augment.py`, which is the reference.
"""

from __future__ import annotations

import torch
from torch import Tensor

from trainferry.devices.kernels import runs_kernels

_VALUES = 1024  # of one program
_LAYOUTS = (torch.contiguous_format, torch.channels_last)


def takes(pictures: Tensor, noise: Tensor) -> bool:
    """Whether the program can do it: picture after picture, without gaps, in single precision."""
    return (
        runs_kernels(pictures)
        and pictures.dtype == noise.dtype == torch.float32
        and pictures.stride() == noise.stride()
        and any(pictures.is_contiguous(memory_format=layout) for layout in _LAYOUTS)
    )


def add_noise(pictures: Tensor, noise: Tensor, amounts: Tensor) -> Tensor:
    """Add to pictures, N C H W, their amount of noise, N, in the memory of the noise."""
    from trainferry.train.kernels.programs import noise as programs

    if pictures.numel() == 0:
        return noise
    values = pictures[0].numel()
    programs.add_noise[len(pictures), -(-values // _VALUES)](
        pictures, noise, amounts, values, VALUES=_VALUES
    )
    return noise
