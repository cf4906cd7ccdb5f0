"""A small map spread over a large one, added and perhaps rectified, in one pass; and averages.

The same functions as `reference` and torch's `avg_pool2d`: every value of the small map stands for
a square of the large one. What spreads on one way sums up squares on the other.

Shapes: B pictures, C channels, H W pixels of the large map, h w of the small one.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from trainferry.devices.kernels import runs_kernels
from trainferry.train.kernels.rows import columns_of, new_rows

_VALUES = 1024  # of one program, forwards
_SQUARES = 512  # and values of the small map, backwards, by half the threads


def add_spread(large: Tensor, small: Tensor, factor: int, *, rectified: bool) -> Tensor:
    """Add the small map, `factor` times as high and wide, to the large one."""
    if runs_kernels(large) and large.dtype == small.dtype and torch.is_grad_enabled():
        result: Tensor = _AddSpread.apply(large, small, factor, rectified)
        return result
    return reference(large, small, factor, rectified=rectified)


def reference(large: Tensor, small: Tensor, factor: int, *, rectified: bool) -> Tensor:
    total = large + functional.interpolate(small, scale_factor=float(factor))
    return functional.relu(total) if rectified else total


def mean_of_squares(features: Tensor, factor: int) -> Tensor:
    """Average squares of `factor` by `factor` pixels; what is left at the end is left out."""
    if runs_kernels(features) and torch.is_grad_enabled():
        result: Tensor = _MeanOfSquares.apply(features, factor)
        return result
    return functional.avg_pool2d(features, factor)


class _AddSpread(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 (torch's)
        large: Tensor,
        small: Tensor,
        factor: int,
        rectified: bool,
    ) -> Tensor:
        large = _in_rows(large)
        result = torch.empty_like(large)
        _spread(large, _in_rows(small), result, factor, rectified=rectified)
        ctx.factor = factor
        ctx.save_for_backward(result if rectified else None)
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None, None]:  # noqa: ANN401
        (result,) = ctx.saved_tensors
        gradient = _in_rows(gradient)
        of_large = gradient if result is None else torch.empty_like(gradient)
        return of_large, _gather(gradient, result, of_large, ctx.factor), None, None


class _MeanOfSquares(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, features: Tensor, factor: int) -> Tensor:  # noqa: ANN401 (torch's)
        ctx.factor, ctx.shape = factor, features.shape
        features = _in_rows(features)
        return _gather(features, None, features, factor, scale=1 / factor**2)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:  # noqa: ANN401 (torch's)
        large = new_rows(gradient, *ctx.shape)
        _spread(None, _in_rows(gradient), large, ctx.factor, scale=1 / ctx.factor**2)
        return large, None


def _spread(
    large: Tensor | None,
    small: Tensor,
    result: Tensor,
    factor: int,
    *,
    rectified: bool = False,
    scale: float = 1.0,
) -> None:
    from trainferry.train.kernels.programs.spread import spread_forward

    pictures, channels, height, width = result.shape
    pixels, columns = pictures * height * width, columns_of(channels)
    rows = max(1, _VALUES // columns)
    spread_forward[-(-pixels // rows), -(-channels // columns)](
        *(result if large is None else large, small, result),
        *(pixels, height, width, *small.shape[2:], factor, scale, channels),
        ADDS=large is not None,
        RECTIFIES=rectified,
        PIXELS=rows,
        COLUMNS=columns,
    )


def _gather(
    large: Tensor, result: Tensor | None, rectified: Tensor, factor: int, scale: float = 1.0
) -> Tensor:
    """Sum up squares of the large map, where the result is positive; `rectified` gets those."""
    from trainferry.train.kernels.programs.spread import spread_backward

    pictures, channels, height, width = large.shape
    size = height // factor, width // factor
    small = new_rows(large, pictures, channels, *size)
    pixels, columns = pictures * size[0] * size[1], columns_of(channels)
    rows = max(1, _SQUARES // columns)
    spread_backward[-(-pixels // rows), -(-channels // columns)](
        *(large, large if result is None else result, rectified, small),
        *(pixels, height, width, *size, scale, channels),
        RECTIFIES=result is not None,
        FACTOR=factor,
        PIXELS=rows,
        COLUMNS=columns,
        num_warps=2,
    )
    return small


def _in_rows(features: Tensor) -> Tensor:
    return features.contiguous(memory_format=torch.channels_last)
