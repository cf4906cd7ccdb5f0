"""Rows of a small table by their numbers."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from trainferry.devices.kernels import runs_kernels


def look_up(numbers: Tensor, table: Tensor) -> Tensor:
    """Return the rows of the table, K C, that have these numbers.

    On a GPU, torch adds up gradients of rows one after the other; as a product it is done at once.
    """
    if torch.is_grad_enabled() and runs_kernels(table):
        rows: Tensor = _LookUp.apply(numbers, table)
        return rows
    return functional.embedding(numbers, table)


class _LookUp(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, numbers: Tensor, table: Tensor) -> Tensor:  # noqa: ANN401  # torch's
        ctx.count = len(table)
        ctx.save_for_backward(numbers)
        return functional.embedding(numbers, table)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor]:  # noqa: ANN401  # torch's
        (numbers,) = ctx.saved_tensors
        rows = torch.arange(ctx.count, device=numbers.device)[:, None]
        chosen = (rows == numbers.flatten()).to(gradient.dtype)
        return None, chosen @ gradient.flatten(0, -2)
