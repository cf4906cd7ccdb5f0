"""Batch normalisation of pictures that are several views of the same samples.

Shapes: V views of each of B samples, one view after the other in the batch; C channels.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from trainferry.train.kernels.norm_passes.values import Norm
from trainferry.train.networks.layers import BatchNorm

_EPSILON = 1e-3


class ViewNorm(nn.Module):
    """Batch normalisation without a factor, each view by its own statistics while training.

    `seen` is where they go, means and variances, 2 V C: zeros, before the views come.
    """

    weight: Tensor
    running_mean: Tensor
    running_var: Tensor
    seen: Tensor
    normalise: BatchNorm = staticmethod(functional.batch_norm)

    def __init__(self, channels: int, views: int) -> None:
        super().__init__()
        self.views = views
        # Without a factor, the fused norms of GPUs give no gradient for the bias.
        self.register_buffer("weight", torch.ones(channels), persistent=False)
        self.bias = nn.Parameter(torch.zeros(channels))
        self.register_buffer("running_mean", torch.zeros(channels))
        self.register_buffer("running_var", torch.ones(channels))

    def forward(self, features: Tensor) -> Tensor:
        if not self.training:
            return self._norm(features, self.running_mean, self.running_var)
        views = zip(features.chunk(self.views), *self.seen, strict=True)
        return torch.cat([self._norm(*view) for view in views])

    def for_kernels(self) -> Norm | None:
        if self.normalise is not functional.batch_norm:
            return None
        means, variances = self.seen
        return Norm(self.weight, self.bias, means, variances, momentum=1.0, epsilon=_EPSILON)

    def _norm(self, features: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
        training, momentum = self.training, 1.0  # so `seen` is of this batch alone
        return self.normalise(
            features, mean, variance, self.weight, self.bias, training, momentum, _EPSILON
        )
