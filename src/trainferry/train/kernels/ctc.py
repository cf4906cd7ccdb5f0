"""The CTC loss and its gradient in three device programs; `tasks/ctc.py` is the reference.

The forward pass sums each row (`norm_rows`) and walks through the columns, forward and backward at
once (`walk`); what it keeps is small: the sums and both walks. The backward pass (`slope`) makes
the gradient of the logits in one pass over them, in their own type and with the weight of each
loss: no tensor of probabilities is ever stored. Nothing waits for the device.

Shapes: B samples, T columns, K classes (blank last), L padded label length, P > L places.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from trainferry.devices.kernels import runs_kernels

MOST_CLASSES = 16_384
MOST_PLACES = 1_024

_TYPES = (torch.float32, torch.bfloat16, torch.float16)
_LANES = 32
_ROW_VALUES = 2_048
_TOGETHER = 16


def takes(logits: Tensor, labels: Tensor) -> bool:
    """Whether the programs can do it; the reference does the rest, float64 among it."""
    return (
        runs_kernels(logits)
        and logits.dtype in _TYPES
        and logits.numel() > 0
        and logits.shape[2] <= MOST_CLASSES
        and labels.shape[1] < MOST_PLACES
    )


class CTC(torch.autograd.Function):
    """Takes logits, B T K, labels, B L, and lengths, B; gives losses, B, in float32."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, labels: Tensor, lengths: Tensor) -> Tensor:  # noqa: ANN401 (torch gives it no type)
        from trainferry.train.kernels.programs import ctc as programs

        logits = logits.contiguous()
        labels = labels if labels.stride(1) == 1 or labels.shape[1] < 2 else labels.contiguous()
        lengths = lengths.contiguous()
        samples, columns, classes = logits.shape
        places = max(_power_of_two(labels.shape[1] + 1), _LANES)
        width = _power_of_two(classes)
        learns = ctx.needs_input_grad[0]
        norms = logits.new_empty((samples, columns), dtype=torch.float32)
        walks = norms.new_empty((samples, 2, columns, 2, places))
        losses, counts = norms.new_empty((2, samples)).unbind()

        rows = max(_ROW_VALUES // width, 1)
        programs.norm_rows[(-(-samples * columns // rows),)](
            logits,
            norms,
            samples * columns,
            classes,
            ROWS=rows,
            CLASSES=width,
            num_warps=_warps(rows * width),
        )
        programs.walk[(samples, 2 if learns else 1)](
            logits,
            norms,
            labels,
            lengths,
            walks,
            losses,
            counts,
            labels.stride(0),
            classes,
            COLUMNS=columns,
            PLACES=places,
            num_warps=1 if places <= 128 else 4,
        )
        if learns:
            ctx.save_for_backward(logits, norms, labels, lengths, walks, counts)
        return losses

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, weights: Tensor) -> tuple[Tensor, None, None]:  # noqa: ANN401 (torch gives it no type)
        from trainferry.train.kernels.programs import ctc as programs

        logits, norms, labels, lengths, walks, counts = ctx.saved_tensors
        samples, columns, classes = logits.shape
        places, width = walks.shape[4], _power_of_two(classes)
        slopes = torch.empty_like(logits)
        programs.slope[(samples * columns,)](
            logits,
            norms,
            labels,
            lengths,
            walks,
            counts,
            weights,
            slopes,
            labels.stride(0),
            weights.stride(0),
            columns,
            classes,
            PLACES=places,
            CLASSES=width,
            TOGETHER=_TOGETHER,
            num_warps=_warps(max(width, places * _TOGETHER // 4)),
        )
        return slopes, None, None


def _power_of_two(number: int) -> int:
    return 1 << (number - 1).bit_length()


def _warps(values: int) -> int:
    """Sixteen values for each thread, from one warp to eight."""
    return min(max(_power_of_two(values // (16 * _LANES) or 1), 1), 8)
