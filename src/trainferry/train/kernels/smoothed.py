"""The cross-entropy with smoothed labels, each way by one kernel instead of a dozen operators.

`reference` says what is computed.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from trainferry.devices.kernels import runs_kernels
from trainferry.train.kernels.rows import power_of_two

_MOST_CLASSES = 8192  # that a program takes at once
_VALUES = 2048


def smoothed_losses(scores: Tensor, labels: Tensor, smoothing: float) -> Tensor:
    """Map scores, … K, and labels, …, to the loss of each, in float32."""
    if runs_kernels(scores) and scores.shape[-1] <= _MOST_CLASSES:
        losses: Tensor = _Smoothed.apply(scores, labels, smoothing)
        return losses
    return reference(scores, labels, smoothing)


def reference(scores: Tensor, labels: Tensor, smoothing: float) -> Tensor:
    answered = torch.log_softmax(scores.float(), -1)
    losses = -answered.gather(-1, labels[..., None]).squeeze(-1)
    return torch.lerp(losses, -answered.mean(-1), smoothing) if smoothing else losses


class _Smoothed(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, labels: Tensor, smoothing: float) -> Tensor:  # noqa: ANN401 (torch's)
        from trainferry.train.kernels.programs.smoothed import lose

        scores, labels = scores.contiguous(), labels.contiguous()
        losses, norms = (scores.new_empty(labels.shape, dtype=torch.float32) for _ in range(2))
        _run(lose, scores, (labels, losses, norms), smoothing)
        ctx.smoothing = smoothing
        ctx.save_for_backward(scores, labels, norms)
        return losses

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, wish: Tensor) -> tuple[Tensor, None, None]:  # noqa: ANN401 (torch's)
        from trainferry.train.kernels.programs.smoothed import lose_back

        scores, labels, norms = ctx.saved_tensors
        gradient = torch.empty_like(scores)
        _run(lose_back, scores, (labels, norms, wish.contiguous(), gradient), ctx.smoothing)
        return gradient, None, None


def _run(program: Any, scores: Tensor, others: tuple[Tensor, ...], smoothing: float) -> None:  # noqa: ANN401 (Triton gives it no type)
    classes = scores.shape[-1]
    wide = power_of_two(classes)
    rows, each = scores.numel() // classes, max(1, _VALUES // wide)
    if rows:
        program[(-(-rows // each),)](
            *(scores, *others, rows, smoothing, classes), ROWS=each, CLASSES=wide
        )
