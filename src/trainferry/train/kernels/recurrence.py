"""An LSTM that reads both ways in half precision: one program for all steps of a layer.

Left to cuDNN, each step of each direction starts programs of its own, which load the recurrent
weights anew. Here some values of a direction stay with one program, with their weights, from the
first column to the last; at every step it tells the others what it has and waits for theirs. For
that all must run at the same time: there are no more of them than the device has processors.

What the columns say to the gates is one product before, and the gradients of all weights are
products after. Single precision is left to torch: its weights do not fit beside the processors.

Shapes: B pictures, T columns, C channels, H values of a direction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from trainferry.devices.kernels import large_programs_at_once

HIDDEN = (16, 32, 64, 128, 256)  # values of a direction for which weights stay with programs
_POLLS = 2**22  # seconds: who waits longer waits for a program that does not run
_COUNTER_STRIDE = 32  # as the programs have it
_SHORTEST = 16  # product that a tensor core computes


@dataclass(frozen=True)
class Slices:
    """How a pass is cut: a program has `units` of a direction's values for `rows` pictures.

    Its warps share long products in `parts`: 1, 4 or 8. Programs tell each other by marks that
    numbers replace, or else by counting.
    """

    units: int
    rows: int
    warps: int
    parts: int
    marked: bool

    def tiles(self, pictures: int) -> int:
        return -(-pictures // self.rows)


class Plan(NamedTuple):
    """How both passes are cut."""

    forward: Slices
    backward: Slices


# The first of them whose programs all run at the same time; else the last, in several starts.
# On 132 processors: up to 64, 128, 256 and 512 pictures.
_FORWARD = (
    Slices(16, 16, 4, 4, True),
    Slices(32, 16, 8, 1, True),
    Slices(32, 32, 8, 1, True),
    Slices(32, 64, 8, 1, False),
)
_BACKWARD = (
    Slices(16, 16, 8, 8, False),
    Slices(32, 16, 8, 8, True),
    Slices(32, 32, 8, 8, False),
    Slices(32, 64, 8, 1, False),
)


def plan_for(pictures: int, hidden: int, programs: int) -> Plan | None:
    """Cut the passes so that programs that wait for each other run at the same time, if so many do.

    Where no two do, as in Triton's interpreter, each program has all values.
    """
    if programs == 1:
        alone = Slices(hidden, 16, 4, 4, False)
        return Plan(alone, alone)
    fewest = min(_FORWARD[-1].units, _BACKWARD[-1].units)
    if programs < 2 * -(-hidden // fewest):
        return None
    return Plan(
        _choose(_FORWARD, pictures, hidden, programs),
        _choose(_BACKWARD, pictures, hidden, programs),
    )


def _choose(choices: Sequence[Slices], pictures: int, hidden: int, programs: int) -> Slices:
    for slices in choices:
        count = 2 * slices.tiles(pictures) * -(-hidden // slices.units)
        if count <= programs or slices is choices[-1]:
            break
    return replace(slices, units=min(slices.units, hidden))


class Recurrence(torch.autograd.Function):
    """Reads columns, B T C, of the format to compute in; gives B T 2*H and the last state, L*2 B H.

    The weights are those of `nn.LSTM`, in its order, of one format: so are their gradients.
    """

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 (torch gives it no type)
        plan: Plan,
        state_kind: torch.dtype,
        columns: Tensor,
        *weights: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        layers = _layers_of(weights, columns.dtype)
        shape = 2 * len(layers), len(columns), weights[1].shape[1]
        hidden, cell = (columns.new_empty(shape, dtype=state_kind) for _ in range(2))
        read, kept = columns.contiguous(), []
        for number, layer in enumerate(layers):
            ends = hidden[2 * number :], cell[2 * number :]
            read, memory = _read(plan.forward, layer, read, ends)
            kept += [*layer, *memory]
        ctx.save_for_backward(*kept)
        ctx.set_materialize_grads(False)
        ctx.plan, ctx.kind = plan, weights[0].dtype
        return read, hidden, cell

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any,  # noqa: ANN401 (torch gives it no type)
        of_read: Tensor | None,
        *of_state: Tensor | None,
    ) -> tuple[Tensor | None, ...]:
        kept = list(ctx.saved_tensors)
        of_weights: list[Tensor | None] = []
        gradient = of_read
        for number in reversed(range(len(kept) // 7)):
            layer, memory = _Layer(*kept[-7:-4]), _Memory(*kept[-4:])
            del kept[-7:]
            ends = _ends(of_state, memory, number)
            if gradient is None:
                gradient = torch.zeros_like(memory.before)
            gradient, *gradients = _read_back(ctx.plan.backward, layer, memory, gradient, ends)
            learns = ctx.needs_input_grad[3 + 8 * number :][:8]
            of_weights = [*_by_direction(gradients, ctx.kind, learns), *of_weights]
        return None, None, gradient, *of_weights


class _Layer(NamedTuple):
    """The weights of both directions; those for the columns have each unit's gates together."""

    given: Tensor  # 2*H*4 C
    own: Tensor  # 2 4H H
    biases: Tensor  # 2 2 4H


class _Memory(NamedTuple):
    """What the way back needs; `before` is what a step got from the one before."""

    inputs: Tensor  # B T C
    gates: Tensor  # B T 2 H 4
    cells: Tensor  # B T 2 H
    before: Tensor  # B T 2*H


def _layers_of(weights: Sequence[Tensor], kind: torch.dtype) -> list[_Layer]:
    layers, hidden = len(weights) // 8, weights[1].shape[1]
    own = weights[1].new_empty(layers, 2, 4 * hidden, hidden, dtype=kind)
    torch._foreach_copy_([*own.flatten(0, 1)], [*weights[1::4]])
    pairs = zip(weights[2::4], weights[3::4], strict=True)
    biases = torch.stack([each for pair in pairs for each in pair]).view(layers, 2, 2, -1)
    return [
        _Layer(_given_weights(weights[8 * number :: 4][:2], kind), own[number], biases[number])
        for number in range(layers)
    ]


def _given_weights(weights: Sequence[Tensor], kind: torch.dtype) -> Tensor:
    rows, channels = weights[0].shape
    result = weights[0].new_empty(2, rows // 4, 4, channels, dtype=kind)
    for mine, weight in zip(result, weights, strict=True):
        mine.copy_(weight.view(4, -1, channels).transpose(0, 1))
    return result.flatten(0, 2)


def _by_direction(
    gradients: Sequence[Tensor], kind: torch.dtype, learns: Sequence[bool]
) -> Iterator[Tensor | None]:
    """Yield the gradients of those weights of a layer that learn, in torch's order and format."""
    given, own, biases = gradients
    in_order = [
        each.view(2, -1, 4, each.shape[-1])
        .transpose(1, 2)
        .to(kind, copy=True, memory_format=torch.contiguous_format)
        for each in (given, own)
    ]
    for direction in range(2):
        bias = biases[direction].to(kind)
        both_learn = learns[4 * direction + 2] and learns[4 * direction + 3]
        found = [each[direction].flatten(0, 1) for each in in_order]
        found += [bias, bias.clone() if both_learn else bias]  # gradients share no memory
        for each, asked in zip(found, learns[4 * direction :], strict=False):
            yield each if asked else None


def _ends(
    of_state: Sequence[Tensor | None], memory: _Memory, number: int
) -> tuple[Tensor, Tensor] | None:
    """The gradients of a layer's last state, where there are any."""
    hidden, cell = of_state
    if hidden is None and cell is None:
        return None
    pictures, _, _, values = memory.cells.shape
    zeros = memory.cells.new_zeros(2, pictures, values)
    mine = slice(2 * number, 2 * number + 2)
    return (
        zeros if hidden is None else hidden[mine].contiguous(),
        zeros if cell is None else cell[mine].contiguous(),
    )


def _read(
    slices: Slices, layer: _Layer, inputs: Tensor, ends: tuple[Tensor, Tensor]
) -> tuple[Tensor, _Memory]:
    from trainferry.train.kernels.programs.recurrence import read_forward as program

    pictures, columns, _ = inputs.shape
    hidden = layer.own.shape[2]
    given = (inputs.flatten(0, 1) @ layer.given.T).view(pictures, columns, 2, hidden, 4)
    # Opened gates lie between -1 and 1, where fp16 is the finer format of the two.
    gates = given.view(torch.float16) if given.dtype == torch.bfloat16 else given
    cells = given.new_empty(pictures, columns, 2, hidden, dtype=torch.float32)
    before = _shared(slices, given.new_empty(pictures, columns, 2 * hidden))
    read = torch.empty_like(before)
    for launch in _launches(slices, pictures, hidden, inputs.device):
        program[launch.grid](
            *(given, gates, layer.own, layer.biases, cells, before, read, *ends),
            *(launch.counters, launch.first_picture, pictures, columns, _POLLS),
            **_sizes(slices, hidden, hidden),
        )
    return read, _Memory(inputs, gates, cells, before)


def _read_back(
    slices: Slices,
    layer: _Layer,
    memory: _Memory,
    gradient: Tensor,
    ends: tuple[Tensor, Tensor] | None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the gradients of the inputs and of the layer's weights."""
    from trainferry.train.kernels.programs.recurrence import read_backward as program

    inputs, gates, cells, before = memory
    pictures, columns, _, hidden, _ = gates.shape
    told = _shared(slices, torch.empty_like(gates, dtype=inputs.dtype))
    sums = cells.new_empty(slices.tiles(pictures), 2, 4 * hidden)
    gradient = gradient.contiguous()
    for launch in _launches(slices, pictures, hidden, inputs.device):
        program[launch.grid](
            *(gradient, *((cells, cells) if ends is None else ends)),
            *(gates, cells, layer.own, told, sums),
            *(launch.counters, launch.first_picture, pictures, columns, _POLLS),
            FROM_STATE=ends is not None,
            **_sizes(slices, hidden, 4 * hidden),
        )
    rows = told.view(pictures * columns, 8 * hidden)
    of_inputs = (rows @ layer.given).view(inputs.shape)
    of_given = rows.T @ inputs.flatten(0, 1)
    by_direction = before.view(-1, 2, hidden).transpose(0, 1)
    of_own = told.view(-1, 2, 4 * hidden).permute(1, 2, 0) @ by_direction
    return of_inputs, of_given, of_own, sums.sum(0)


def _shared(slices: Slices, memory: Tensor) -> Tensor:
    """Mark the memory, where programs look for marks: all bits are 1."""
    if slices.marked:
        memory.view(torch.int16).fill_(-1)
    return memory


class _Launch(NamedTuple):
    """Programs that run at the same time."""

    first_picture: int
    grid: tuple[int, int, int]
    counters: Tensor


def _launches(
    slices: Slices, pictures: int, hidden: int, device: torch.device
) -> Iterator[_Launch]:
    count, tiles = hidden // slices.units, slices.tiles(pictures)
    together = tiles if count == 1 else large_programs_at_once(device) // (2 * count)
    for first in range(0, tiles, together):
        some = min(together, tiles - first)
        size = 0 if slices.marked else 2 * some * _COUNTER_STRIDE
        counters = torch.zeros(size, dtype=torch.int32, device=device)
        yield _Launch(first * slices.rows, (count, some, 2), counters)


def _sizes(slices: Slices, hidden: int, length: int) -> dict[str, int | bool]:
    return {
        "H": hidden,
        "UNITS": slices.units,
        "ROWS": slices.rows,
        "SLICES": hidden // slices.units,
        "MARKED": slices.marked,
        "PARTS": slices.parts if length >= slices.parts * _SHORTEST else 1,
        "num_warps": slices.warps,
    }
