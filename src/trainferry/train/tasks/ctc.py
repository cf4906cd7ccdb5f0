"""The CTC loss with static shapes, in operators that every device has.

Graves, Fernández, Gomez and Schmidhuber, 2006, "Connectionist Temporal Classification".

A label of n characters is read by walking through 2n+1 states (blank, first character, blank, ...,
blank), one column of the picture per move. The forward walk and the backward walk are the same
recursion: the backward one sees columns and states in reverse. Both run side by side in one tensor,
three operators per column, and their product gives the gradient in closed form. Where a device runs
kernels of our own, `kernels/ctc.py` does the same in three of them.

Shapes: B samples, T columns, K classes (blank last), L padded label length, S = 2L + 1 states.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from trainferry.train.kernels import ctc as kernel

# The logarithm of "impossible": finite, so that a difference of two of them is a number.
_NEVER = -1e30


def ctc_losses(logits: Tensor, labels: Tensor, lengths: Tensor) -> Tensor:
    """Return minus the log-probability of each label, B, in float32 (float64 for float64 logits).

    `logits` are B T K, `labels` B L (what lies beyond `lengths` does not matter). A label that
    cannot fit into T columns gets loss 0 and gradient 0: count it with `impossible_labels`.
    """
    function = kernel.CTC if kernel.takes(logits, labels) else PlainCTC
    losses: Tensor = function.apply(logits, labels, lengths)
    return losses


def impossible_labels(labels: Tensor, lengths: Tensor, columns: int) -> Tensor:
    """Say for each label, B, whether it needs more columns than there are.

    Every character needs a column, and a blank has to stand between two equal neighbours.
    """
    same = labels[:, 1:] == labels[:, :-1]
    inside = torch.arange(1, same.shape[1] + 1, device=labels.device) < lengths[:, None]
    return lengths + (same & inside).sum(1) > columns


class PlainCTC(torch.autograd.Function):
    """The reference for the kernels, and the path of every other device."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, labels: Tensor, lengths: Tensor) -> Tensor:  # noqa: ANN401 (torch gives it no type)
        exact = torch.float64 if logits.dtype == torch.float64 else torch.float32
        log_probabilities = torch.log_softmax(logits, 2, dtype=exact)  # B T K
        columns, classes = log_probabilities.shape[1:]
        beyond = torch.arange(labels.shape[1], device=labels.device) >= lengths[:, None]
        labels = labels.masked_fill(beyond, classes - 1)

        emissions = _emissions(log_probabilities, labels)
        walks = _walk(emissions, labels, lengths)
        impossible = impossible_labels(labels, lengths, columns)
        if ctx.needs_input_grad[0]:
            occupancy = _occupancy(walks, emissions)
            # In place: with thousands of classes a second tensor of this size would be the peak.
            gradient = _subtract_occupancy(log_probabilities.exp_(), occupancy, labels)
            ctx.save_for_backward(gradient, impossible)
            ctx.dtype = logits.dtype

        # The backward walk ends in the first two states, which are its last two columns.
        ends = walks[-1, len(labels) :, -2:]
        losses = -torch.logaddexp(ends[:, 0], ends[:, 1])
        return losses.masked_fill(impossible, 0)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, weights: Tensor) -> tuple[Tensor, None, None]:  # noqa: ANN401 (torch gives it no type)
        gradient, impossible = ctx.saved_tensors
        weights = weights.masked_fill(impossible, 0)
        return (gradient * weights[:, None, None]).to(ctx.dtype), None, None


def _emissions(log_probabilities: Tensor, labels: Tensor) -> Tensor:
    """Return the log-probability of each state at each column, T B S."""
    samples, columns, classes = log_probabilities.shape
    states = labels.new_full((samples, 2 * labels.shape[1] + 1), classes - 1)
    states[:, 1::2] = labels
    index = states[:, None, :].expand(-1, columns, -1)
    return log_probabilities.gather(2, index).transpose(0, 1)


def _walk(emissions: Tensor, labels: Tensor, lengths: Tensor) -> Tensor:
    """Return the log-probability of every walk up to each column and state, T 2B S+2.

    The first B rows walk forward. The others walk backward: their column 0 is the last one of the
    picture and their state 0 is state S-1. Two columns on the left, never reached, stand for the
    states before the first one.
    """
    columns, samples, states = emissions.shape
    both = torch.cat([emissions, emissions.flip(0, 2)], 1)  # T 2B S

    # Two versions of every walk, written by one addition: as it is, and for a jump by two states.
    steps = torch.stack([both, both + _jump_penalties(labels, both.dtype)], 1)  # T 2 2B S
    walks = both.new_full((columns + 1, 2, 2 * samples, states + 2), _NEVER)
    walks[0, 0, :samples, 2].fill_(0)
    walks[0, 0, samples:].scatter_(1, (states + 1 - 2 * lengths)[:, None], 0)
    for column in range(columns):
        walk, jump = walks[column]
        reached = torch.logaddexp(walk[:, 2:], walk[:, 1:-1])
        reached = torch.logaddexp(reached, jump[:, :-2])
        torch.add(reached, steps[column], out=walks[column + 1, :, :, 2:])
    return walks[1:, 0]


def _jump_penalties(labels: Tensor, dtype: torch.dtype) -> Tensor:
    """Return what is added to a walk that jumps over the blank behind its state, 2B S.

    Only a character may, and only to a different one.
    """
    samples, length = labels.shape
    penalties = torch.full((2, samples, 2 * length + 1), _NEVER, dtype=dtype, device=labels.device)
    same = (labels[:, 1:] == labels[:, :-1]).to(dtype) * _NEVER
    penalties[0, :, 1:-2:2] = same
    penalties[1, :, 1:-2:2] = same.flip(1)
    return penalties.flatten(0, 1)


def _occupancy(walks: Tensor, emissions: Tensor) -> Tensor:
    """Return the probability of being in each state at each column, given the label, B T S."""
    forward, backward = walks[:, :, 2:].chunk(2, 1)
    # Both walks hold the emission of the column at which they meet.
    meeting = forward + backward.flip(0, 2) - emissions
    return torch.softmax(meeting, 2).transpose(0, 1)


def _subtract_occupancy(probabilities: Tensor, occupancy: Tensor, labels: Tensor) -> Tensor:
    """Subtract from each class, in place, the probability of being in one of its states.

    A character that occurs several times gets the same sum at each place, written and not added:
    the result does not depend on the order in which a device does it.
    """
    blank = probabilities[:, :, -1] - occupancy[:, :, 0::2].sum(2)
    same = (labels[:, :, None] == labels[:, None, :]).to(occupancy.dtype)
    characters = (occupancy[:, :, None, 1::2] * same[:, None]).sum(3)  # B T L
    index = labels[:, None, :].expand_as(characters)
    probabilities.scatter_(2, index, probabilities.gather(2, index) - characters)
    probabilities[:, :, -1] = blank
    return probabilities
