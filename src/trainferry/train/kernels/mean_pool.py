"""The average of each pixel and those around it, of as many as there are.

The same function as torch's `avg_pool2d` of 3 by 3 pixels, side by side, that does not count its
padding; torch's own takes a program for each value, several times as long. Its way back is never
used: on CUDA it was wrong for channels-last maps with padding until July 2026, also in PyTorch 2.11
(pytorch/pytorch#188344).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from trainferry.devices.kernels import runs_kernels
from trainferry.train.kernels.rows import columns_of

_VALUES = 1024  # of one program


def mean_of_neighbours(features: Tensor) -> Tensor:
    if torch.is_grad_enabled():
        result: Tensor = _MeanOfNeighbours.apply(features)
        return result
    return reference(features)


def reference(features: Tensor, *, back: bool = False) -> Tensor:
    """Average neighbours, or give the gradients of averages back to them."""
    if not back:
        return functional.avg_pool2d(features, 3, 1, 1, count_include_pad=False)
    one = features.new_ones(1, 1, *features.shape[2:])
    counts = functional.avg_pool2d(one, 3, 1, 1, divisor_override=1)
    return functional.avg_pool2d(features / counts, 3, 1, 1, divisor_override=1)


class _MeanOfNeighbours(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, features: Tensor) -> Tensor:  # noqa: ANN401, ARG004 (torch's)
        return _average(features, back=False)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Tensor:  # noqa: ANN401, ARG004 (torch's)
        return _average(gradient, back=True)


def _average(features: Tensor, *, back: bool) -> Tensor:
    if not runs_kernels(features):
        return reference(features, back=back)
    from trainferry.train.kernels.programs.mean_pool import average_neighbours

    features = features.contiguous(memory_format=torch.channels_last)
    result = torch.empty_like(features)
    channels, height, width = features.shape[1:]
    pixels, columns = features.numel() // max(channels, 1), columns_of(channels)
    rows = max(1, _VALUES // columns)
    average_neighbours[-(-pixels // rows), -(-channels // columns)](
        *(features, result, pixels, height, width, channels),
        BACK=back,
        PIXELS=rows,
        COLUMNS=columns,
    )
    return result
