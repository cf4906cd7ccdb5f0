"""The programs of the CTC loss; `kernels/ctc.py` says what they compute.

Shapes as there: B samples, T columns, K classes (blank last), P places: a place is a blank and the
character behind it, so that a walk over the states of a label needs only its neighbour on the left.
Everything is contiguous but the labels, whose rows may be longer than they are wide.
"""

from __future__ import annotations

import triton
import triton.language as tl

# The logarithm of "impossible": finite, so that a difference of two of them is a number.
_NEVER = tl.constexpr(-1e30)


@triton.jit
def _possible(value):
    """Lift minus infinity to a number; what is no number stays none."""
    return tl.where(value < _NEVER, _NEVER, value)


@triton.jit
def _add(one, two):
    """The logarithm of the sum of two numbers given by their logarithms."""
    peak = tl.maximum(one, two)
    return peak + tl.log(tl.exp(one - peak) + tl.exp(two - peak))


@triton.jit
def _add_three(one, two, three):
    peak = tl.maximum(tl.maximum(one, two), three)
    return peak + tl.log(tl.exp(one - peak) + tl.exp(two - peak) + tl.exp(three - peak))


@triton.jit
def norm_rows(
    logits,  # B*T K
    norms,  # B*T, out: the logarithm of the sum of exponentials
    rows,
    classes,
    ROWS: tl.constexpr,
    CLASSES: tl.constexpr,
):
    # Programs that reach beyond the last row sum that one again, to the same value.
    row = tl.minimum(tl.program_id(0) * ROWS + tl.arange(0, ROWS), rows - 1)
    kind = tl.arange(0, CLASSES)[None, :]
    start = logits + row.to(tl.int64)[:, None] * classes
    values = tl.load(start + kind, kind < classes, other=float("-inf")).to(tl.float32)
    peak = tl.max(values, 1)
    total = tl.sum(tl.exp(values - peak[:, None]), 1)
    tl.store(norms + row, peak + tl.log(total))


@triton.jit
def walk(
    logits,  # B T K
    norms,  # B T
    labels,  # B L
    lengths,  # B
    walks,  # B 2 T 2 P, out: forward and backward, blanks and characters
    losses,  # B, out
    counts,  # B, out: 1, or 0 where the label does not fit into the columns
    label_stride,
    classes,
    COLUMNS: tl.constexpr,
    PLACES: tl.constexpr,
):
    """Walk through all columns: forward, or (1 along the second axis) the label and time turned."""
    sample = tl.program_id(0)
    turned = tl.program_id(1) == 1
    length = tl.load(lengths + sample).to(tl.int32)
    at = tl.arange(0, PLACES)
    is_character = at < length
    own = tl.where(turned, length - 1 - at, at)
    before = tl.where(turned, own + 1, own - 1)
    written = labels + sample.to(tl.int64) * label_stride
    label = tl.load(written + own, is_character, other=0).to(tl.int32)
    follows = is_character & (at > 0)
    last = tl.load(written + before, follows, other=0).to(tl.int32)
    jumps = follows & (label != last)
    needed = length + tl.sum((follows & (label == last)).to(tl.int32), 0)

    blank_place = tl.where(turned, length - at, at)
    left = tl.maximum(at - 1, 0)
    blanks = tl.where(at == 0, 0.0, _NEVER)
    characters = tl.full([PLACES], _NEVER, tl.float32)
    column = tl.where(turned, COLUMNS - 1, 0)
    move = tl.where(turned, -1, 1)
    first_row = sample.to(tl.int64) * COLUMNS
    score = logits + (first_row + column) * classes
    of_label = tl.load(score + label, is_character, other=0.0).to(tl.float32)
    of_blank = tl.load(score + classes - 1).to(tl.float32)
    norm = tl.load(norms + first_row + column)
    out = walks + (2 * first_row + tl.where(turned, COLUMNS, 0)) * 2 * PLACES
    for step in range(COLUMNS):
        emitted = _possible(of_label - norm)
        passed = _possible(of_blank - norm)
        here = out + column * 2 * PLACES
        # What the next column says is asked for early: nobody waits for memory in between.
        column += tl.where(step < COLUMNS - 1, move, 0)
        score = logits + (first_row + column) * classes
        of_label = tl.load(score + label, is_character, other=0.0).to(tl.float32)
        of_blank = tl.load(score + classes - 1).to(tl.float32)
        norm = tl.load(norms + first_row + column)

        neighbours = tl.where(at == 0, _NEVER, tl.gather(characters, left, 0))
        jumped = tl.where(jumps, neighbours, _NEVER)
        reached = _add_three(characters, blanks, jumped) + emitted
        blanks = _add(blanks, neighbours) + passed
        characters = tl.where(is_character, reached, _NEVER)
        tl.store(here + blank_place, blanks, at <= length)
        tl.store(here + PLACES + own, characters, is_character)
    if not turned:
        ends = tl.where(at == length, blanks, tl.where(at == length - 1, characters, _NEVER))
        peak = tl.max(ends, 0)
        loss = -(peak + tl.log(tl.sum(tl.exp(ends - peak), 0)))
        fits = needed <= COLUMNS
        tl.store(losses + sample, tl.where(fits, loss, 0.0))
        tl.store(counts + sample, fits.to(tl.float32))


@triton.jit
def slope(
    logits,  # B T K
    norms,  # B T
    labels,  # B L
    lengths,  # B
    walks,  # B 2 T 2 P
    counts,  # B
    weights,  # B: what the losses count
    slopes,  # B T K, out
    label_stride,
    weight_stride,
    columns,
    classes,
    PLACES: tl.constexpr,
    CLASSES: tl.constexpr,
    TOGETHER: tl.constexpr,
):
    """Subtract from the probability of each class that of being in one of its states."""
    row = tl.program_id(0).to(tl.int64)
    sample = row // columns
    length = tl.load(lengths + sample).to(tl.int32)
    counted = tl.load(counts + sample) > 0
    weight = tl.load(weights + sample * weight_stride).to(tl.float32)
    norm = tl.load(norms + row)
    score = logits + row * classes
    written = labels + sample * label_stride

    at = tl.arange(0, PLACES)
    is_character = at < length
    label = tl.load(written + at, is_character, other=-1).to(tl.int32)
    emitted = _possible(tl.load(score + label, is_character, other=0.0).to(tl.float32) - norm)
    passed = _possible(tl.load(score + classes - 1).to(tl.float32) - norm)
    forward = walks + (row + sample * columns) * 2 * PLACES
    backward = forward + columns * 2 * PLACES
    # Both walks hold the emission of the column at which they meet.
    blanks = tl.load(forward + at, at <= length, other=_NEVER) - passed
    blanks += tl.load(backward + at, at <= length, other=_NEVER)
    characters = tl.load(forward + PLACES + at, is_character, other=_NEVER) - emitted
    characters += tl.load(backward + PLACES + at, is_character, other=_NEVER)
    peak = tl.maximum(tl.max(blanks, 0), tl.max(characters, 0))
    in_blanks = tl.sum(tl.exp(blanks - peak), 0)
    in_characters = tl.exp(characters - peak)
    total = in_blanks + tl.sum(in_characters, 0)

    kind = tl.arange(0, CLASSES)
    value = tl.exp(tl.load(score + kind, kind < classes, other=0.0).to(tl.float32) - norm)
    value = tl.where(kind == classes - 1, value - in_blanks / total, value)
    value = tl.where(counted, value * weight, 0.0)
    tl.store(slopes + row * classes + kind, value, kind < classes)
    # Characters write over what stands there now. One that occurs several times writes the same
    # sum at each place: the result does not depend on the order.
    tl.debug_barrier()
    for start in range(0, PLACES, TOGETHER):
        place = start + tl.arange(0, TOGETHER)
        chosen = tl.load(written + place, place < length, other=-2).to(tl.int32)
        same = chosen[:, None] == label[None, :]
        present = tl.sum(tl.where(same, in_characters[None, :], 0.0), 1) / total
        said = tl.load(score + chosen, place < length, other=0.0).to(tl.float32)
        other = tl.where(counted, (tl.exp(said - norm) - present) * weight, 0.0)
        tl.store(slopes + row * classes + chosen, other, place < length)
