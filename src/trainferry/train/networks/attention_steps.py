"""The steps of the attention decoder where every character before is known, for training.

The gradient is written down in closed form: what all steps share (the derivatives of the gates,
the gradients of weights and features) is then computed once for all of them, and a step back
has half the operations that autograd needs.

Shapes: L steps, B samples, N places, C channels, H hidden values of the cell, S = H + C.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from trainferry.devices.kernels import runs_kernels
from trainferry.train.kernels.attention import Steps as KernelSteps


@dataclass(frozen=True)
class StepWeights:
    """The weights of one step."""

    recurrent: Tensor  # 4H S
    query: Tensor  # C 2H
    query_bias: Tensor  # C
    score: Tensor  # C
    clip: float


def attention_steps(given: Tensor, keys: Tensor, features: Tensor, weights: StepWeights) -> Tensor:
    """Return hidden values and context of every step, L B S.

    `given` are the gates, L B 4H, as far as no step before decides them; keys and features are
    B N C. The gates and the cell are computed in the type of `given`, all else in that of `keys`.
    """
    kind = keys.dtype
    matrices = (
        each.to(kind)
        for each in (weights.recurrent, weights.query, weights.query_bias, weights.score)
    )
    steps = KernelSteps if runs_kernels(keys) else PlainSteps
    with torch.autocast(given.device.type, enabled=False):
        states: Tensor = steps.apply(weights.clip, given, keys, features.to(kind), *matrices)
    return states


class PlainSteps(torch.autograd.Function):
    """The reference for every device: takes clip, given, keys, features and the weights."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 (torch gives it no type)
        clip: float,
        given: Tensor,
        keys: Tensor,
        features: Tensor,
        *weights: Tensor,
    ) -> Tensor:
        recurrent, query, bias, score = weights
        steps, samples, gates = given.shape
        hidden = gates // 4
        opened = given.new_empty(given.shape)
        carried = given.new_empty(steps, samples, hidden)
        asked = keys.new_empty(steps, samples, 2 * hidden)
        compared = keys.new_empty(steps, *keys.shape)
        shares = keys.new_empty(steps, *keys.shape[:2])
        states = keys.new_empty(steps, samples, recurrent.shape[1])
        kept = given.new_zeros(samples, hidden)
        state: Tensor | None = None
        parts = (given, opened, carried, asked, compared, shares, states)
        for known, gates_, cell, ask, place, share, out in zip(
            *(part.unbind() for part in parts), strict=True
        ):
            gate = known if state is None else known + state @ recurrent.t()
            torch.sigmoid(gate, out=gates_)
            enter, keep, new, say = gates_.chunk(4, 1)
            torch.tanh(gate[:, 2 * hidden : 3 * hidden], out=new)
            torch.addcmul(enter * new, keep, kept, out=cell)
            kept = cell.clamp(-clip, clip)
            said = say * torch.tanh(kept)
            torch.cat([kept, said], 1, out=ask)
            question = torch.addmm(bias, ask, query.t())
            torch.add(keys, question[:, None], out=place).tanh_()
            torch.softmax(place @ score, 1, out=share)
            context = torch.bmm(share[:, None], features).squeeze(1)
            state = torch.cat([said, context], 1, out=out)
        ctx.clip = clip
        ctx.save_for_backward(
            features, recurrent, query, score, opened, carried, asked, compared, shares, states
        )
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_states: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401 (as above)
        features, recurrent, query, score, opened, carried, asked, compared, shares, states = (
            ctx.saved_tensors
        )
        steps, samples, hidden = carried.shape
        channels = len(score)
        slopes = _Slopes(opened, carried, ctx.clip)
        of_states = of_states.clone(memory_format=torch.contiguous_format)
        of_gates = states.new_empty(steps, samples, 4, hidden)
        of_sums = states.new_empty(steps, samples, channels)
        of_fits = torch.empty_like(shares)
        of_keys = torch.zeros_like(features, dtype=opened.dtype)
        of_kept = torch.zeros_like(carried[0])
        asking = score[:, None] * query
        later: Tensor | None = None
        parts = (of_states, of_gates, of_sums, of_fits, compared, shares)
        slope_parts = (slopes.gates, slopes.said, slopes.kept)
        backwards = zip(*(part.unbind()[::-1] for part in (*parts, *slope_parts)), strict=True)
        for of_state, of_gate, of_sum, of_fit, place, share, gate, say, keep in backwards:
            if later is not None:
                of_state.addmm_(later, recurrent)
            of_said, of_context = of_state.split([hidden, channels], 1)
            of_share = torch.bmm(features, of_context[:, :, None]).squeeze(2)
            torch.ops.aten._softmax_backward_data.out(
                of_share, share, 1, share.dtype, grad_input=of_fit
            )
            of_place = torch.ops.aten.tanh_backward(of_fit[:, :, None], place)
            of_keys += of_place
            torch.sum(of_place, 1, out=of_sum)
            more_kept, more_said = (of_sum @ asking).chunk(2, 1)
            of_said = of_said + more_said
            of_kept = torch.addcmul(more_kept + of_kept, of_said, say)
            changes = torch.stack([of_kept, of_kept, of_kept, of_said], 1)
            torch.mul(changes, gate, out=of_gate)
            of_kept = of_kept * keep
            later = of_gate.flatten(1)
        of_gates = of_gates.flatten(2)
        of_questions = (of_sums * score).flatten(0, 1)
        of_contexts = of_states[:, :, hidden:].transpose(0, 1)
        return (
            None,
            of_gates,
            of_keys * score,
            torch.bmm(shares.permute(1, 2, 0), of_contexts),
            of_gates[1:].flatten(0, 1).t() @ states[:-1].flatten(0, 1),
            of_questions.t() @ asked.flatten(0, 1),
            of_questions.sum(0),
            of_fits.flatten() @ compared.flatten(0, 2),
        )


class _Slopes:
    """The derivatives of the cell at all steps: `gates` L B 4 H, `said` and `kept` L B H."""

    def __init__(self, opened: Tensor, carried: Tensor, clip: float) -> None:
        enter, keep, new, say = opened.chunk(4, 2)
        kept = carried.clamp(-clip, clip)
        before = torch.cat([torch.zeros_like(kept[:1]), kept[:-1]])
        heard = torch.tanh(kept)
        inside = (carried == kept).to(carried.dtype)  # what is clipped learns nothing
        self.gates = torch.stack(
            [
                inside * new * enter * (1 - enter),
                inside * before * keep * (1 - keep),
                inside * enter * (1 - new * new),
                heard * say * (1 - say),
            ],
            2,
        )
        self.said = say * (1 - heard * heard)
        self.kept = inside * keep
