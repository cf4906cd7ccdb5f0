"""An LSTM that reads columns in the order of time, with few copies around it.

cuDNN wants the columns time by time, and under autocast all numbers in fp16. Left to themselves,
torch and cuDNN change order and format one after the other, the order of the columns again in both
halves of the backward pass, and the format of every weight and gradient by itself. Here order and
format change together, once each way, and all weights in one pass. In half precision, on a device
that can, programs of our own read instead, see `recurrence.py`.

Shapes: B pictures, T columns, C channels, H values of a direction.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from trainferry.devices.kernels import large_programs_at_once, runs_kernels
from trainferry.train.kernels.recurrence import HIDDEN, Plan, Recurrence, plan_for

State = tuple[Tensor, Tensor]


def read_by_time(recurrence: nn.LSTM, columns: Tensor) -> tuple[Tensor, State]:
    """Map columns, B T C, to B T 2*H and the last state, as an LSTM with biases does."""
    weights = [getattr(recurrence, name) for name in recurrence._flat_weights_names]
    kind = columns.dtype
    if plan := _plan(recurrence, columns):
        return _read_both_ways(plan, columns, weights)
    # Autocast lets cuDNN's LSTMs compute in fp16 whatever its format is.
    if torch.is_autocast_enabled(columns.device.type) and _is_for_cudnn(weights[0]):
        kind = torch.float16
        weights = list(_Halved.apply(_places(recurrence, weights), *weights))
    turned = _Turned.apply(columns, kind)
    cells = len(weights) // 4
    zeros = turned.new_zeros(cells, turned.shape[1], recurrence.hidden_size)
    read, *state = torch.lstm(
        *(turned, (zeros, zeros), weights, True, recurrence.num_layers, recurrence.dropout),
        *(recurrence.training, recurrence.bidirectional, False),
    )
    return _Turned.apply(read, columns.dtype), (state[0], state[1])


def _plan(recurrence: nn.LSTM, columns: Tensor) -> Plan | None:
    """How our own programs would read, if they can."""
    drops = recurrence.dropout > 0 and recurrence.training and recurrence.num_layers > 1
    is_plain = recurrence.bidirectional and not recurrence.proj_size and not drops
    if not is_plain or recurrence.hidden_size not in HIDDEN or columns.numel() == 0:
        return None
    kind = _format(columns)
    if not runs_kernels(columns) or kind not in (torch.bfloat16, torch.float16):
        return None
    return plan_for(len(columns), recurrence.hidden_size, large_programs_at_once(columns.device))


def _read_both_ways(plan: Plan, columns: Tensor, weights: list[Tensor]) -> tuple[Tensor, State]:
    is_cast = torch.is_autocast_enabled(columns.device.type)
    # The state as torch gives it: autocast lets cuDNN compute in fp16 whatever its format is.
    state_kind = torch.float16 if is_cast and _is_for_cudnn(weights[0]) else columns.dtype
    read, hidden, cell = Recurrence.apply(plan, state_kind, columns.to(_format(columns)), *weights)
    return read.to(columns.dtype), (hidden, cell)


def _format(columns: Tensor) -> torch.dtype:
    device = columns.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else columns.dtype


class _Turned(torch.autograd.Function):
    """Swaps the first two dimensions, in memory too, and changes the format in the same pass."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, kind: torch.dtype) -> Tensor:  # noqa: ANN401 (torch's)
        ctx.kind = values.dtype
        return _turn(values, kind)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:  # noqa: ANN401 (torch's)
        return _turn(gradient, ctx.kind), None


def _turn(values: Tensor, kind: torch.dtype) -> Tensor:
    return values.transpose(0, 1).to(kind, copy=True, memory_format=torch.contiguous_format)


class _Places(NamedTuple):
    """Where cuDNN looks for the weights, in one piece of memory of that size."""

    starts: tuple[int, ...]
    size: int


class _Halved(torch.autograd.Function):
    """Copies weights to fp16, to where cuDNN looks for them."""

    @staticmethod
    def forward(ctx: Any, places: _Places, *weights: Tensor) -> tuple[Tensor, ...]:  # noqa: ANN401
        ctx.kind = weights[0].dtype
        memory = weights[0].new_zeros(places.size, dtype=torch.float16)
        halves = [
            memory[start : start + weight.numel()].view(weight.shape)
            for start, weight in zip(places.starts, weights, strict=True)
        ]
        torch._foreach_copy_(halves, weights)
        return tuple(halves)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        learns = ctx.needs_input_grad[1:]
        narrow = [each for each, asked in zip(gradients, learns, strict=True) if asked]
        wide = [torch.empty_like(each, dtype=ctx.kind) for each in narrow]
        torch._foreach_copy_(wide, narrow)
        following = iter(wide)
        return None, *(next(following) if asked else None for asked in learns)


def _is_for_cudnn(weight: Tensor) -> bool:
    return bool(torch.backends.cudnn.is_acceptable(weight))


def _places(recurrence: nn.LSTM, weights: list[Tensor]) -> _Places:
    shapes = tuple(tuple(weight.shape) for weight in weights)
    layers, both = recurrence.num_layers, recurrence.bidirectional
    return _ask_for_places(shapes, layers, both, weights[0].device)


@cache
def _ask_for_places(
    shapes: tuple[tuple[int, ...], ...], layers: int, bidirectional: bool, device: torch.device
) -> _Places:
    """Let cuDNN put weights of these shapes where it wants them."""
    from torch.backends.cudnn.rnn import get_cudnn_mode

    weights = [torch.zeros(shape, dtype=torch.float16, device=device) for shape in shapes]
    inputs, hidden = shapes[0][1], shapes[1][1]
    sizes = 4, inputs, get_cudnn_mode("LSTM"), hidden, 0, layers, False, bidirectional
    with torch.no_grad():
        memory = torch._cudnn_rnn_flatten_weight(weights, *sizes)
    return _Places(tuple(int(weight.storage_offset()) for weight in weights), memory.numel())
