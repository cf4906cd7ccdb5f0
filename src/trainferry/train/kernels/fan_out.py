"""One map for several readers, whose gradients one kernel adds up.

Autograd adds them up two by two, each time in a pass of its own that is rounded.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from trainferry.devices.kernels import runs_kernels

_MOST = 4  # that are added up at once
_VALUES = 2048  # of one program


def fan_out(features: Tensor, readers: int) -> tuple[Tensor, ...]:
    """Return the map once for each reader; who does not need it need not read it."""
    learns = torch.is_grad_enabled() and features.requires_grad
    if not learns or not 2 < readers <= _MOST or not runs_kernels(features):
        return (features,) * readers
    given: tuple[Tensor, ...] = _FanOut.apply(features, readers)
    return given


class _FanOut(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, features: Tensor, readers: int) -> tuple[Tensor, ...]:  # noqa: ANN401 (torch's)
        ctx.set_materialize_grads(False)
        return tuple(features.view_as(features) for _ in range(readers))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, None]:  # noqa: ANN401, ARG004 (torch's)
        there = [each for each in gradients if each is not None]
        if len(there) < 2:
            return (there[0] if there else None), None
        return _add_up(there), None


def _add_up(maps: list[Tensor]) -> Tensor:
    from trainferry.train.kernels.programs.fan_out import add_maps

    lines = [each.contiguous(memory_format=torch.channels_last) for each in maps]
    total = torch.empty_like(lines[0])
    add_maps[(-(-total.numel() // _VALUES),)](
        *(lines + lines[:1] * (_MOST - len(lines))),
        *(total, total.numel()),
        COUNT=len(lines),
        VALUES=_VALUES,
        num_warps=8,
    )
    return total
