"""Parts of a map that lie in it already: joining them copies nothing."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def join(whole: Tensor, parts: list[Tensor]) -> Tensor:
    """Return the whole map, of whose channels each part has written some, one after the other."""
    joined: Tensor = _Joined.apply(whole, *parts)
    return joined


class _Joined(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, whole: Tensor, *parts: Tensor) -> Tensor:  # noqa: ANN401 (torch's)
        ctx.widths = [part.shape[1] for part in parts]
        return whole.view_as(whole)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401 (torch's)
        return None, *gradient.split(ctx.widths, 1)
