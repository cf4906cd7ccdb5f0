"""The attention decoder's steps in training, a handful of device programs each.

The same function as `networks.attention_steps`, which is the reference. What differs is what is
kept and what is computed twice: the comparison of every place with every question, L B N C, is
never stored. The backward pass compares again, and gathers the gradients of keys and score over
all steps in one pass at its end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from trainferry.devices.kernels import has_quick_tanh
from trainferry.train.kernels.rows import power_of_two

_COLUMNS = 64
_HIDDEN = 128


@dataclass(frozen=True)
class _Sizes:
    """How the work is cut into programs."""

    steps: int
    samples: int
    places: int
    channels: int
    hidden: int

    @property
    def rows(self) -> int:
        """Places of a program: fewer where a small batch would leave processors idle."""
        return 64 if self.samples * self.places >= 2**16 else 32

    @property
    def parts(self) -> int:
        return -(-self.places // self.rows)

    @property
    def columns(self) -> int:
        """How many blocks of channels there are."""
        return -(-self.channels // _COLUMNS)

    @property
    def cell(self) -> tuple[int, int]:
        return self.samples, -(-self.hidden // _HIDDEN)

    @property
    def look(self) -> tuple[int, int]:
        return self.samples, self.parts

    @property
    def join(self) -> tuple[int, int]:
        return self.samples, self.columns


class Steps(torch.autograd.Function):
    """Takes clip, given, keys, features and the weights of a step, of the type of the keys."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 (torch gives it no type)
        clip: float,
        given: Tensor,
        keys: Tensor,
        features: Tensor,
        *weights: Tensor,
    ) -> Tensor:
        from trainferry.train.kernels.programs import attention as programs

        recurrent, query, bias, score = weights
        size = _Sizes(
            len(given), len(keys), keys.shape[1], keys.shape[2], hidden=given.shape[2] // 4
        )
        keys, features = keys.contiguous(), features.contiguous()
        given = given.to(torch.float32)
        new, quick = _Maker(keys), has_quick_tanh(keys)
        opened = new(size.steps, size.samples, 4 * size.hidden, exact=True)
        carried = new(size.steps, size.samples, size.hidden, exact=True)
        asked = new(size.steps, size.samples, 2 * size.hidden)
        questions = new(size.steps, size.samples, size.channels)
        fits = new(size.steps, size.samples, size.places, exact=True)
        norms = new(size.steps, size.samples, exact=True)
        states = new(size.steps, size.samples, size.hidden + size.channels)
        product = new(size.samples, 4 * size.hidden)
        peaks, sums = (new(size.samples, size.parts, exact=True) for _ in range(2))
        contexts = new(size.samples, size.parts, size.channels, exact=True)
        backs = recurrent.t(), query.t()
        for step in range(size.steps):
            if step:
                torch.mm(states[step - 1], backs[0], out=product)
            programs.cell_forward[size.cell](
                given[step],
                product,
                carried[max(step - 1, 0)],
                opened[step],
                carried[step],
                asked[step],
                states[step],
                given.stride(1),
                clip,
                size.hidden,
                size.hidden + size.channels,
                FIRST=step == 0,
                BLOCK=_HIDDEN,
            )
            torch.addmm(bias, asked[step], backs[1], out=questions[step])
            programs.look_forward[size.look](
                keys,
                features,
                questions[step],
                score,
                fits[step],
                peaks,
                sums,
                contexts,
                size.places,
                size.channels,
                size.parts,
                ROWS=size.rows,
                COLUMNS=_COLUMNS,
                QUICK=quick,
            )
            programs.join_forward[size.join](
                peaks,
                sums,
                contexts,
                states[step],
                norms[step],
                size.channels,
                size.parts,
                size.hidden,
                PARTS=power_of_two(size.parts),
                COLUMNS=_COLUMNS,
            )
        ctx.clip, ctx.size = clip, size
        ctx.save_for_backward(
            keys, features, *weights, opened, carried, asked, questions, fits, norms, states
        )
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_states: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401 (as above)
        from trainferry.train.kernels.programs import attention as programs

        keys, features, recurrent, query, _, score, *kept = ctx.saved_tensors
        opened, carried, asked, questions, fits, norms, states = kept
        size: _Sizes = ctx.size
        new, quick = _Maker(keys), has_quick_tanh(keys)
        of_states = of_states.clone(memory_format=torch.contiguous_format)
        of_gates = new(size.steps, size.samples, 4 * size.hidden)
        of_sums = new(size.steps, size.samples, size.channels)
        of_fits = torch.empty_like(fits)
        of_parts = new(size.samples, size.parts, size.channels, exact=True)
        of_asked = new(size.samples, 2 * size.hidden)
        of_kept = torch.zeros_like(carried[0])
        asking = score[:, None] * query
        for step in reversed(range(size.steps)):
            if step + 1 < size.steps:
                of_states[step].addmm_(of_gates[step + 1], recurrent)
            programs.look_backward[size.look](
                keys,
                features,
                questions[step],
                of_states[step],
                states[step],
                fits[step],
                norms[step],
                of_fits[step],
                of_parts,
                size.places,
                size.channels,
                size.parts,
                size.hidden,
                ROWS=size.rows,
                COLUMNS=_COLUMNS,
                QUICK=quick,
            )
            programs.join_backward[size.join](
                of_parts,
                of_sums[step],
                size.channels,
                size.parts,
                PARTS=power_of_two(size.parts),
                COLUMNS=_COLUMNS,
            )
            torch.mm(of_sums[step], asking, out=of_asked)
            programs.cell_backward[size.cell](
                of_states[step],
                of_asked,
                opened[step],
                carried[step],
                carried[max(step - 1, 0)],
                of_kept,
                of_gates[step],
                ctx.clip,
                size.hidden,
                size.hidden + size.channels,
                FIRST=step == 0,
                BLOCK=_HIDDEN,
            )
        of_keys = torch.empty_like(keys)
        of_scores = torch.empty_like(of_parts)
        programs.gather_backward[(*size.look, size.columns)](
            keys,
            questions,
            score,
            of_fits,
            of_keys,
            of_scores,
            size.samples,
            size.places,
            size.channels,
            size.parts,
            size.steps,
            ROWS=size.rows,
            COLUMNS=_COLUMNS,
            QUICK=quick,
        )
        shares = torch.exp(fits - norms[:, :, None]).to(keys.dtype)
        of_questions = (of_sums * score).flatten(0, 1)
        of_contexts = of_states[:, :, size.hidden :].transpose(0, 1)
        return (
            None,
            of_gates,
            of_keys,
            torch.bmm(shares.permute(1, 2, 0), of_contexts),
            of_gates[1:].flatten(0, 1).t() @ states[:-1].flatten(0, 1),
            of_questions.t() @ asked.flatten(0, 1),
            of_questions.sum(0),
            of_scores.sum((0, 1)).to(score.dtype),
        )


class _Maker:
    """Makes tensors of the type of the keys, or exact ones."""

    def __init__(self, like: Tensor) -> None:
        self._like = like

    def __call__(self, *shape: int, exact: bool = False) -> Tensor:
        return self._like.new_empty(shape, dtype=torch.float32 if exact else None)
