"""Batch norms in the place of torch's: exact ones, and those of the whole batch of several ranks.

A norm of several ranks has the statistics of the whole batch, however many share it.

Torch's own layer for this runs on one kind of device only; this one on all. Each rank takes mean
and variance of its rows, all ranks join them, and in the backward pass add up the two sums that
reach through the statistics. Shapes: B rows of a rank, C channels, R ranks.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from trainferry.devices.collectives import Group
from trainferry.train.networks import exact_norm
from trainferry.train.networks.layers import BatchNorm, DebiasedNorm
from trainferry.train.networks.view_norm import ViewNorm


class OtherNorm(nn.BatchNorm2d):
    """A batch norm in the place of another, with its weights and statistics and other sums."""

    def __init__(self, norm: nn.BatchNorm2d, normalise: BatchNorm) -> None:
        super().__init__(norm.num_features, norm.eps, norm.momentum, device="meta")
        self.weight, self.bias = norm.weight, norm.bias
        self.running_mean, self.running_var = norm.running_mean, norm.running_var
        self.num_batches_tracked = norm.num_batches_tracked
        self.normalise = normalise

    def forward(self, features: Tensor) -> Tensor:
        assert self.num_batches_tracked is not None
        if self.training:
            self.num_batches_tracked.add_(1)
        return self.normalise(
            features,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training,
            self.momentum or 0.0,
            self.eps,
        )


def synchronise_norms(network: nn.Module, group: Group) -> None:
    """Let every batch norm of the network see the whole batch; weights and names stay."""
    _replace_norms(network, partial(batch_norm, group=group))


def keep_norms_exact(network: nn.Module) -> None:
    """Let every batch norm add up as exactly as if channels came first."""
    _replace_norms(network, exact_norm.batch_norm)


def _replace_norms(network: nn.Module, normalise: BatchNorm) -> None:
    for module in list(network.modules()):
        if isinstance(module, DebiasedNorm | ViewNorm):
            module.normalise = normalise
        for name, child in module.named_children():
            if type(child) is nn.BatchNorm2d:
                setattr(module, name, OtherNorm(child, normalise))


def batch_norm(  # noqa: PLR0913, PLR0917  # the arguments of torch's own
    features: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor,
    bias: Tensor,
    training: bool,
    momentum: float,
    eps: float,
    *,
    group: Group,
) -> Tensor:
    """Do what torch's `functional.batch_norm` does on the rows of all ranks together."""
    assert running_mean is not None
    assert running_var is not None
    if not training:
        return functional.batch_norm(
            features, running_mean, running_var, weight, bias, False, momentum, eps
        )
    mean, variance = _statistics(features.detach(), group)
    with torch.no_grad():
        count = group.ranks * features.numel() // features.shape[1]
        unbiased = variance * (count / max(count - 1, 1))
        running_mean.lerp_(mean.to(running_mean.dtype), momentum)
        running_var.lerp_(unbiased.to(running_var.dtype), momentum)
    result: Tensor = _Normalise.apply(features, mean, variance, weight, bias, eps, group)
    return result


def _statistics(features: Tensor, group: Group) -> tuple[Tensor, Tensor]:
    """Mean and variance of every channel over all ranks, whose rows are equally many."""
    variance, mean = torch.var_mean(_wide(features), _all_but_channels(features), correction=0)
    means, variances = group.stack(torch.stack([mean, variance])).unbind(1)
    mean = means.mean(0)
    return mean, variances.mean(0) + (means - mean).square().mean(0)


class _Normalise(torch.autograd.Function):
    @staticmethod
    def forward(  # noqa: PLR0913, PLR0917  # torch gives them so
        ctx: Any,  # noqa: ANN401  # torch's, with whatever is kept in it
        features: Tensor,
        mean: Tensor,
        variance: Tensor,
        weight: Tensor,
        bias: Tensor,
        eps: float,
        group: Group,
    ) -> Tensor:
        ctx.save_for_backward(features, mean, variance, weight)
        ctx.eps, ctx.group = eps, group
        wide = functional.batch_norm(
            _wide(features), mean, variance, weight.to(mean), bias.to(mean), False, 0.0, eps
        )
        return wide.to(features.dtype)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        features, mean, variance, weight = ctx.saved_tensors
        gradient, dimensions = _wide(gradients[0]), _all_but_channels(features)
        deviation = torch.rsqrt(variance + ctx.eps)
        normal = (_wide(features) - _upright(mean)) * _upright(deviation)
        own = torch.stack([gradient.sum(dimensions), (gradient * normal).sum(dimensions)])
        of_all = own.clone()
        ctx.group.sum(of_all)
        of_bias, of_weight = of_all / (ctx.group.ranks * features.numel() // features.shape[1])
        inner = gradient - _upright(of_bias) - normal * _upright(of_weight)
        to_features = inner * _upright(deviation * weight)
        own_weight, own_bias = own[1].to(weight.dtype), own[0].to(weight.dtype)
        return to_features.to(features.dtype), None, None, own_weight, own_bias, None, None


def _wide(features: Tensor) -> Tensor:
    """Half precision is too coarse for sums over a whole batch."""
    return features if features.dtype in (torch.float32, torch.float64) else features.float()


def _all_but_channels(features: Tensor) -> list[int]:
    return [dimension for dimension in range(features.ndim) if dimension != 1]


def _upright(per_channel: Tensor) -> Tensor:
    return per_channel[:, None, None]
