"""The bias of a convolution in front of a norm, without the passes over the map that it costs.

While it trains, a norm takes the mean of the batch from all pixels, and with it whatever a bias
has added to all of them: the result does not depend on the bias, whose gradient is zero but for
rounding. Only the moving mean has to know of it. `reference` adds it all the same.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from trainferry.train.kernels import norm as norms
from trainferry.train.kernels.norm_passes.values import Norm


def normalise_biased(features: Tensor, bias: Tensor, norm: Norm, *, rectified: bool) -> Tensor:
    """Return what `reference` does; the features are those of a convolution without its bias."""
    assert norm.debiased is None
    result = norms.normalise(_Unbiased.apply(features, bias), norm, rectified=rectified)
    with torch.no_grad():
        norm.mean.add_(bias, alpha=norm.momentum)
    return result


def reference(features: Tensor, bias: Tensor, norm: Norm, *, rectified: bool) -> Tensor:
    """Add the bias, normalise, rectify."""
    return norms.reference(features + bias[:, None, None], norm, rectified=rectified)


class _Unbiased(torch.autograd.Function):
    """Leaves the features as they are, and gives the bias the gradient that it has."""

    @staticmethod
    def forward(ctx: Any, features: Tensor, bias: Tensor) -> Tensor:  # noqa: ANN401 (torch's)
        ctx.save_for_backward(bias)
        return features.view_as(features)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:  # noqa: ANN401 (torch's)
        (bias,) = ctx.saved_tensors
        return gradient, torch.zeros_like(bias)
