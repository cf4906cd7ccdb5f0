"""Batch normalisation on a CPU whose maps lie channels last, with statistics that are exact.

Torch's own adds up the values of a channel one by one there: with 400,000 of them, the fourth
digit is wrong. Here it adds up a thousand at a time, and the parts are joined.

Shapes: B pictures, C channels, H W pixels; P parts of at most so many pixels.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

_PIXELS = 1024  # that may be added up one by one


def batch_norm(  # noqa: PLR0913, PLR0917  # the arguments of torch's own
    features: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor,
    bias: Tensor,
    training: bool,
    momentum: float,
    eps: float,
) -> Tensor:
    """Do what torch's `functional.batch_norm` does."""
    if not (training and _is_coarse(features)):
        return functional.batch_norm(
            features, running_mean, running_var, weight, bias, training, momentum, eps
        )
    mean, variance = _statistics(features.detach())
    count = features.numel() // features.shape[1]
    with torch.no_grad():
        if running_mean is not None:
            running_mean.lerp_(mean, momentum)
        if running_var is not None:
            running_var.lerp_(variance * (count / (count - 1)), momentum)
    result: Tensor = _Normalise.apply(features, mean, variance, weight, bias, eps)
    return result


def _is_coarse(features: Tensor) -> bool:
    """Whether torch would add up too many values one by one."""
    pixels = features.numel() // max(features.shape[1], 1)
    last = features.ndim == 4 and features.is_contiguous(memory_format=torch.channels_last)
    return last and features.dtype == torch.float32 and pixels > _PIXELS


def _statistics(features: Tensor) -> tuple[Tensor, Tensor]:
    rows = features.permute(0, 2, 3, 1).flatten(0, 2)  # B*H*W C
    parts = [part.t()[None, :, :, None] for part in rows.split(_PIXELS)]
    found = [torch.batch_norm_update_stats(part, None, None, 0.0) for part in parts]
    means, variances = (torch.stack(each) for each in zip(*found, strict=True))  # P C
    shares = means.new_full((len(parts), 1), _PIXELS / len(rows))
    shares[-1:].fill_(parts[-1].shape[2] / len(rows))
    mean = (means * shares).sum(0)
    return mean, ((variances + (means - mean).square()) * shares).sum(0)


class _Normalise(torch.autograd.Function):
    @staticmethod
    def forward(  # torch gives them so
        ctx: Any,  # noqa: ANN401  # torch's, with whatever is kept in it
        features: Tensor,
        mean: Tensor,
        variance: Tensor,
        weight: Tensor,
        bias: Tensor,
        eps: float,
    ) -> Tensor:
        ctx.save_for_backward(features, weight, mean, torch.rsqrt(variance + eps))
        ctx.eps = eps
        return functional.batch_norm(features, mean, variance, weight, bias, False, 0.0, eps)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        features, weight, mean, deviation = ctx.saved_tensors
        of_features, of_weight, of_bias = torch.ops.aten.native_batch_norm_backward(
            gradient, features, weight, None, None, mean, deviation, True, ctx.eps, [True] * 3
        )
        return of_features, None, None, of_weight, of_bias, None
