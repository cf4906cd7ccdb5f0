"""Batch normalisation while training, with an addition and a rectifier in the same pass.

`reference` says what is computed. Forward reads the features twice, for their statistics and for
the result; backward reads them twice as well, for the sums that reach through the statistics and
for the gradient. Everything per channel, the moving statistics too, is done in between: for small
maps by the last of the programs that sum up, for large ones by one small program more. All sums
have a fixed order, so equal inputs give equal bits.

Shapes: B pictures, C channels, G groups of pictures with statistics of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional
from torch.utils.weak import WeakTensorKeyDictionary

from trainferry.devices.lanes import current_lane
from trainferry.train.kernels.norm_passes.backward import (
    gradient_of_features,
    take_gradients,
    take_rectified,
)
from trainferry.train.kernels.norm_passes.counters import counters_of
from trainferry.train.kernels.norm_passes.forward import take_statistics, transform
from trainferry.train.kernels.norm_passes.values import Maps, Norm
from trainferry.train.kernels.rows import in_rows

# Number formats the kernels read and write; their sums are fp32.
FORMATS = (torch.float32, torch.bfloat16, torch.float16)


def normalise(
    features: Tensor,
    norm: Norm,
    *,
    rectified: bool,
    added: Tensor | None = None,
    into: Tensor | None = None,
) -> Tensor:
    """Return what `reference` does, computed by kernels; written `into` some channels of a map."""
    job = _Job(norm, rectified, into)
    result: Tensor
    result, _ = _Normalise.apply(features, added, norm.weight, norm.bias, job)
    if added is None and result.requires_grad:
        assert job.maps is not None
        _remakes[result] = Remake(job.maps, norm, rectified, current_lane(features.device))
    return result


class Remake(NamedTuple):
    """How to make a result again, bit for bit, of what is kept for its gradient anyway."""

    maps: Maps
    norm: Norm
    rectified: bool
    lane: object

    @property
    def reads(self) -> tuple[Tensor, Tensor]:
        return self.maps.features, self.maps.statistics

    def __call__(self) -> Tensor:
        counts_nothing = replace(self.norm, batches=None, debiased=None, steps=None)
        return transform(self.maps, counts_nothing, self.rectified)


def remake_of(result: Tensor) -> Remake | None:
    """Return how to make a map again, if it is a result of `normalise` on the same lane."""
    found: Remake | None = _remakes.get(result)
    return found if found and found.lane == current_lane(result.device) else None


_remakes = WeakTensorKeyDictionary()


def normalise_twice(features: Tensor, norm: Norm, added: Tensor) -> tuple[Tensor, Tensor]:
    """Return the rectified result for two readers; a kernel adds up their gradients."""
    results: tuple[Tensor, Tensor] = _Normalise.apply(
        features, added, norm.weight, norm.bias, _Job(norm, rectified=True)
    )
    return results


def reference(
    features: Tensor, norm: Norm, *, rectified: bool, added: Tensor | None = None
) -> Tensor:
    """Normalise each group by its own statistics, move the moving ones, add, rectify."""
    means, variances = norm.mean.view(norm.groups, -1), norm.variance.view(norm.groups, -1)
    result = torch.cat(
        [
            functional.batch_norm(
                part, mean, variance, norm.weight, norm.bias, True, norm.momentum, norm.epsilon
            )
            for part, mean, variance in zip(
                features.chunk(norm.groups), means, variances, strict=True
            )
        ]
    )
    with torch.no_grad():
        if norm.batches is not None:
            norm.batches.add_(1)
        if norm.debiased is not None and norm.steps is not None:
            norm.steps.add_(1)
            norm.debiased.copy_(norm.mean / (1 - (1 - norm.momentum) ** norm.steps))
    if added is not None:
        result = result + added
    return functional.relu(result) if rectified else result


@dataclass
class _Job:
    """What to do, and which maps came of it."""

    norm: Norm
    rectified: bool
    into: Tensor | None = None
    maps: Maps | None = None


class _Normalise(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401  # torch's, with whatever is kept in it
        features: Tensor,
        added: Tensor | None,
        weight: Tensor,
        bias: Tensor,
        job: _Job,
    ) -> tuple[Tensor, Tensor]:
        norm, rectified = job.norm, job.rectified
        features = in_rows(features)
        statistics = features.new_empty(2, norm.groups, features.shape[1], dtype=torch.float32)
        maps = Maps(features, statistics, weight, bias, norm.epsilon)
        job.maps = maps
        ctx.counters = counters_of(norm)
        take_statistics(features, statistics, norm, ctx.counters)
        other = None if added is None else in_rows(added)
        result = transform(maps, norm, rectified, other, job.into)
        ctx.rectified, ctx.epsilon = rectified, norm.epsilon
        # Without an addition, the features alone tell what the rectifier let through.
        kept = result if rectified and added is not None else None
        ctx.save_for_backward(features, statistics, weight, bias, kept)
        ctx.set_materialize_grads(False)
        return result, result.detach()

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any,  # noqa: ANN401  # torch's
        first: Tensor | None,
        second: Tensor | None,
    ) -> tuple[Tensor | None, ...]:
        features, statistics, weight, bias, result = ctx.saved_tensors
        maps = Maps(features, statistics, weight, bias, ctx.epsilon)
        read = [in_rows(each) for each in (first, second) if each is not None]
        if not read:
            return (None,) * 5
        gradient, rectified = read[0], ctx.rectified
        if result is None:
            of_norm, means = take_gradients(maps, gradient, rectified, ctx.counters)
        else:
            other = read[1] if len(read) > 1 else None
            of_norm, means, gradient = take_rectified(maps, gradient, other, result, ctx.counters)
            rectified = False
        of_added = gradient if ctx.needs_input_grad[1] else None
        of_features = gradient_of_features(maps, gradient, rectified, means)
        return of_features, of_added, of_norm[0], of_norm[1], None
