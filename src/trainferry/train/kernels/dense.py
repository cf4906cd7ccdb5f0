"""A map that grows: every layer normalises all channels so far and adds some of its own.

The reference is to join the channels anew for every layer and normalise them there. Here they are
written once into one map, the statistics of each are computed once, and on the way back all layers
add to one gradient. What a layer's statistics take away from that is the same for all pixels but
for a factor, so it is only added up per channel and taken away in the end.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from trainferry.train.kernels.norm_passes.backward import correct, take_gradients
from trainferry.train.kernels.norm_passes.counters import counters_of
from trainferry.train.kernels.norm_passes.forward import finish_statistics, sum_up, transform
from trainferry.train.kernels.norm_passes.values import Ledger, Maps, Norm, Parts
from trainferry.train.kernels.rows import in_rows


class GrowingMap:
    """Begins with `features` and ends with so many channels; each growth is normalised once."""

    def __init__(self, features: Tensor, channels: int) -> None:
        shape = features.shape[0], channels, *features.shape[2:]
        self.values = torch.empty(
            shape,
            dtype=features.dtype,
            device=features.device,
            memory_format=torch.channels_last,
        )
        self.statistics = features.new_empty(2, 1, channels, dtype=torch.float32)
        self.channels = 0
        self.parts: Parts | None = None
        self.gradients = _Gradients()
        # Empty: it only tells autograd what must come before what.
        self._order = features.new_empty(0, dtype=torch.float32)
        self.append(features)

    def append(self, features: Tensor) -> None:
        self._order = _Append.apply(features, self._order, self)

    def normalise(self, norm: Norm) -> Tensor:
        """Return all channels so far, normalised and rectified."""
        result: Tensor = _Normalise.apply(self._order, norm.weight, norm.bias, norm, self)
        return result


class _Gradients:
    """What the backward passes of one map share."""

    def __init__(self) -> None:
        self._sums: Tensor | None = None
        self._corrections: Tensor | None = None

    def entered(self, values: Tensor, channels: int) -> Ledger:
        """The gradient of the first channels, to which a layer will add."""
        is_new = self._sums is None or self._corrections is None
        if self._sums is None or self._corrections is None:
            whole = channels == values.shape[1]
            self._sums = torch.empty_like(values) if whole else torch.zeros_like(values)
            shape = 2, values.shape[1]
            self._corrections = values.new_zeros(shape, dtype=torch.float32)
            is_new = whole
        return Ledger(self._sums[:, :channels], self._corrections, is_new)

    def ledger(self) -> Ledger:
        assert self._sums is not None
        assert self._corrections is not None
        return Ledger(self._sums, self._corrections, is_new=False)

    def close(self) -> None:
        self._sums = self._corrections = None


class _Append(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, features: Tensor, order: Tensor, grown: GrowingMap) -> Tensor:  # noqa: ANN401 (torch's)
        begin = grown.channels
        grown.channels += features.shape[1]
        ctx.channels = slice(begin, grown.channels)
        grown.parts = sum_up(in_rows(features), grown.values[:, ctx.channels])
        ctx.gradients = grown.gradients
        ctx.save_for_backward(grown.values, grown.statistics)
        return torch.empty_like(order)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, order: Tensor) -> tuple[Tensor, Tensor, None]:  # noqa: ANN401 (torch's)
        values, statistics = ctx.saved_tensors
        of_features = correct(ctx.gradients.ledger(), values, statistics, ctx.channels)
        if ctx.channels.start == 0:
            ctx.gradients.close()
        return of_features, order, None


class _Normalise(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 (torch's)
        order: Tensor,
        weight: Tensor,
        bias: Tensor,
        norm: Norm,
        grown: GrowingMap,
    ) -> Tensor:
        assert grown.parts is not None
        finish_statistics(grown.parts, grown.statistics, norm)
        grown.parts = None
        ctx.epsilon, ctx.gradients = norm.epsilon, grown.gradients
        ctx.counters = counters_of(norm)
        ctx.save_for_backward(order, grown.values, grown.statistics, weight, bias)
        features = grown.values[:, : grown.channels]
        maps = Maps(features, grown.statistics, weight, bias, norm.epsilon)
        return transform(maps, norm, rectified=True)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401 (torch's)
        order, values, statistics, weight, bias = ctx.saved_tensors
        channels = weight.numel()
        maps = Maps(values[:, :channels], statistics, weight, bias, ctx.epsilon)
        ledger = ctx.gradients.entered(values, channels)
        of_norm, _ = take_gradients(maps, in_rows(gradient), True, ctx.counters, ledger)
        return torch.empty_like(order), of_norm[0], of_norm[1], None, None
