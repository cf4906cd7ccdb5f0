"""The attention decoder's steps in training, three device programs each.

The same function as `networks.attention_steps`, which is the reference. What differs is what is
kept and what is computed twice: the comparison of every place with every question, L B N C, is
never stored. The backward pass compares again, and gathers the gradients of keys and score over
all steps in one pass at its end.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from trainferry.devices.kernels import chains_kernels, has_quick_tanh
from trainferry.train.kernels.attention_cut import Cut, Sizes, choose_cut


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
        from trainferry.train.kernels.programs import attention, attention_cell

        recurrent, query, bias, score = (each.contiguous() for each in weights)
        keys, features = keys.contiguous(), features.contiguous()
        given = given.to(torch.float32)
        size = Sizes(
            len(given), len(keys), keys.shape[1], keys.shape[2], hidden=given.shape[2] // 4
        )
        cut = choose_cut(size, chained=chains_kernels(keys), value_bytes=keys.element_size())
        new, quick = _Maker(keys), has_quick_tanh(keys)
        opened = new(size.steps, size.samples, 4 * size.hidden, exact=True)
        carried = new(size.steps, size.samples, size.hidden, exact=True)
        asked = new(size.steps, size.samples, 2 * size.hidden)
        questions = new(size.steps, size.samples, size.channels)
        fits = new(size.steps, size.samples, size.places, exact=True)
        norms = new(size.steps, size.samples, exact=True)
        states = new(size.steps, size.samples, size.state)
        peaks, sums = (new(size.samples, cut.parts, exact=True) for _ in range(2))
        contexts = new(size.samples, cut.parts, size.channels, exact=True)
        counters = torch.zeros(size.samples, dtype=torch.int32, device=keys.device)
        for step in range(size.steps):
            attention_cell.cell_forward[cut.multiplying(size.hidden)](
                *(given[step], states[max(step - 1, 0)], recurrent, carried[max(step - 1, 0)]),
                *(opened[step], carried[step], asked[step], states[step]),
                *(given.stride(1), clip, size.samples, size.hidden, size.state),
                FIRST=step == 0,
                **cut.product(follows=step > 0),
            )
            attention_cell.add_product[cut.multiplying(size.channels)](
                *(asked[step], query, bias, questions[step], size.samples, 0),
                *(size.channels, 2 * size.hidden),
                **cut.product(),
            )
            attention.look_forward[cut.parts, size.samples](
                *(keys, features, questions[step], score, fits[step], peaks, sums, contexts),
                *(counters, states[step], norms[step]),
                *(size.places, step % 2, size.channels, size.hidden, cut.parts),
                QUICK=quick,
                **cut.look(),
            )
        ctx.clip, ctx.size, ctx.cut = clip, size, cut
        ctx.save_for_backward(
            *(keys, features, recurrent, query, score),
            *(opened, carried, asked, questions, fits, norms, states),
        )
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_states: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401 (as above)
        from trainferry.train.kernels.programs import attention, attention_cell

        keys, features, recurrent, query, score, *kept = ctx.saved_tensors
        opened, carried, asked, questions, fits, norms, states = kept
        size: Sizes = ctx.size
        cut: Cut = ctx.cut
        new, quick = _Maker(keys), has_quick_tanh(keys)
        of_states = of_states.clone(memory_format=torch.contiguous_format)
        of_gates = new(size.steps, size.samples, 4 * size.hidden)
        of_sums = new(size.steps, size.samples, size.channels)
        of_fits, shares = torch.empty_like(fits), torch.empty_like(fits, dtype=keys.dtype)
        of_parts = new(size.samples, cut.parts, size.channels, exact=True)
        counters = torch.zeros(size.samples, dtype=torch.int32, device=keys.device)
        of_kept = torch.zeros_like(carried[0])
        # As the programs read them: the values of a row that are multiplied lie together.
        recurring = recurrent.t().contiguous()
        asking = (score[:, None] * query).t().contiguous()
        for step in reversed(range(size.steps)):
            is_last = step + 1 == size.steps
            if not is_last:
                attention_cell.add_product[cut.multiplying(size.state)](
                    *(of_gates[step + 1], recurring, of_states[step], of_states[step]),
                    *(size.samples, size.state, size.state, 4 * size.hidden),
                    **cut.product(),
                )
            attention.look_backward[cut.parts, size.samples](
                *(keys, features, questions[step], of_states[step], states[step], fits[step]),
                *(norms[step], of_fits[step], shares[step], of_parts, counters, of_sums[step]),
                *(size.places, (step + 1) % 2, size.channels, size.hidden, cut.parts),
                QUICK=quick,
                **cut.look(follows=not is_last),
            )
            attention_cell.cell_backward[cut.multiplying(size.hidden)](
                *(of_states[step], of_sums[step], asking, opened[step], carried[step]),
                *(carried[max(step - 1, 0)], of_kept, of_gates[step], ctx.clip),
                *(size.samples, size.hidden, size.channels),
                FIRST=step == 0,
                **cut.product(),
            )
        of_keys = torch.empty_like(keys)
        of_scores = new(*cut.gathering[:2], size.channels, exact=True)
        attention.gather_backward[cut.gathering](
            *(keys, questions, score, of_fits, of_keys, of_scores),
            *(size.samples, size.places, size.channels, size.steps),
            QUICK=quick,
            **cut.gather(),
        )
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
