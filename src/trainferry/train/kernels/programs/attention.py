"""The programs of the attention decoder's steps; `kernels/attention.py` says what they compute.

Shapes as there: B samples, N places, C channels, H hidden values, L steps, S = H + C. A program
takes `ROWS` places of one sample, `COLUMNS` channels at a time; its number along the second axis
is called a part. Tensors are contiguous but for what carries a stride.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _tanh(x):
    return 2.0 * tl.sigmoid(2.0 * x) - 1.0


@triton.jit
def _compare(x, QUICK: tl.constexpr):
    """The tanh of a place and a question; `QUICK` is exact to 2^-11, as half precision is."""
    if QUICK:
        y = tl.inline_asm_elementwise(
            "tanh.approx.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
        )
    else:
        y = _tanh(x)
    return y


@triton.jit
def cell_forward(
    known,  # B 4H: gates without what the step before says
    product,  # B 4H: what the step before says
    kept_before,  # B H, as carried on by the step before, not clipped
    opened,  # B 4H, out: the gates after their functions
    carried,  # B H, out
    asked,  # B 2H, out: cell and hidden values
    state,  # B S, out: its first H values
    known_stride,
    clip,
    hidden,
    state_width,
    FIRST: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = at < hidden
    gate = known + row * known_stride + at
    i = tl.load(gate, inside).to(tl.float32)
    f = tl.load(gate + hidden, inside).to(tl.float32)
    g = tl.load(gate + 2 * hidden, inside).to(tl.float32)
    o = tl.load(gate + 3 * hidden, inside).to(tl.float32)
    before = tl.zeros([BLOCK], tl.float32)
    if not FIRST:
        more = product + row * 4 * hidden + at
        i += tl.load(more, inside).to(tl.float32)
        f += tl.load(more + hidden, inside).to(tl.float32)
        g += tl.load(more + 2 * hidden, inside).to(tl.float32)
        o += tl.load(more + 3 * hidden, inside).to(tl.float32)
        before = tl.load(kept_before + row * hidden + at, inside)
        before = tl.minimum(tl.maximum(before, -clip), clip)
    i, f, g, o = tl.sigmoid(i), tl.sigmoid(f), _tanh(g), tl.sigmoid(o)
    cell = i * g + f * before
    kept = tl.minimum(tl.maximum(cell, -clip), clip)
    said = o * _tanh(kept)
    out = opened + row * 4 * hidden + at
    tl.store(out, i, inside)
    tl.store(out + hidden, f, inside)
    tl.store(out + 2 * hidden, g, inside)
    tl.store(out + 3 * hidden, o, inside)
    tl.store(carried + row * hidden + at, cell, inside)
    tl.store(asked + row * 2 * hidden + at, kept.to(asked.dtype.element_ty), inside)
    tl.store(asked + row * 2 * hidden + hidden + at, said.to(asked.dtype.element_ty), inside)
    tl.store(state + row * state_width + at, said.to(state.dtype.element_ty), inside)


@triton.jit
def look_forward(
    keys,  # B N C
    features,  # B N C
    question,  # B C
    score,  # C
    fits,  # B N, out
    peaks,  # B parts, out: the largest fit of a part
    sums,  # B parts, out: of the exponentials below that peak
    contexts,  # B parts C, out
    places,
    channels: tl.constexpr,
    parts,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    QUICK: tl.constexpr,
):
    sample, part = tl.program_id(0), tl.program_id(1)
    rows = part * ROWS + tl.arange(0, ROWS)
    here = rows < places
    start = (sample.to(tl.int64) * places + rows) * channels
    fit = tl.zeros([ROWS], tl.float32)
    for first in range(0, channels, COLUMNS):
        at = first + tl.arange(0, COLUMNS)
        inside = at < channels
        both = here[:, None] & inside[None, :]
        key = tl.load(keys + start[:, None] + at[None, :], both, other=0.0).to(tl.float32)
        asked = tl.load(question + sample * channels + at, inside, other=0.0).to(tl.float32)
        weight = tl.load(score + at, inside, other=0.0).to(tl.float32)
        fit += tl.sum(_compare(key + asked[None, :], QUICK) * weight[None, :], 1)
    fit = tl.where(here, fit, float("-inf"))
    tl.store(fits + sample * places + rows, fit, here)
    peak = tl.max(fit, 0)
    share = tl.exp(fit - peak)
    tl.store(peaks + sample * parts + part, peak)
    tl.store(sums + sample * parts + part, tl.sum(share, 0))
    for first in range(0, channels, COLUMNS):
        at = first + tl.arange(0, COLUMNS)
        inside = at < channels
        both = here[:, None] & inside[None, :]
        feature = tl.load(features + start[:, None] + at[None, :], both, other=0.0)
        seen = tl.sum(share[:, None] * feature.to(tl.float32), 0)
        tl.store(contexts + (sample * parts + part) * channels + at, seen, inside)


@triton.jit
def join_forward(
    peaks,
    sums,
    contexts,
    state,  # B S, out: its last C values
    norms,  # B, out: logarithm of the sum of all exponentials
    channels: tl.constexpr,
    parts,
    hidden,
    PARTS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    sample, block = tl.program_id(0), tl.program_id(1)
    part = tl.arange(0, PARTS)
    real = part < parts
    peak = tl.load(peaks + sample * parts + part, real, other=float("-inf"))
    whole = tl.max(peak, 0)
    factor = tl.exp(peak - whole)
    total = tl.sum(factor * tl.load(sums + sample * parts + part, real, other=0.0), 0)
    at = block * COLUMNS + tl.arange(0, COLUMNS)
    inside = at < channels
    start = (sample * parts + part) * channels
    seen = tl.load(
        contexts + start[:, None] + at[None, :], real[:, None] & inside[None, :], other=0.0
    )
    context = tl.sum(seen * factor[:, None], 0) / total
    out = state + sample * (hidden + channels) + hidden + at
    tl.store(out, context.to(state.dtype.element_ty), inside)
    if block == 0:
        tl.store(norms + sample, whole + tl.log(total))


@triton.jit
def look_backward(
    keys,
    features,
    question,
    of_state,  # B S: its last C values are the gradient of the context
    state,  # B S
    fits,
    norms,
    of_fits,  # B N, out
    of_sums,  # B parts C, out: gradient of the question before the score
    places,
    channels: tl.constexpr,
    parts,
    hidden,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    QUICK: tl.constexpr,
):
    sample, part = tl.program_id(0), tl.program_id(1)
    rows = part * ROWS + tl.arange(0, ROWS)
    here = rows < places
    start = (sample.to(tl.int64) * places + rows) * channels
    context = sample * (hidden + channels) + hidden
    of_share = tl.zeros([ROWS], tl.float32)
    mean = 0.0
    for first in range(0, channels, COLUMNS):
        at = first + tl.arange(0, COLUMNS)
        inside = at < channels
        both = here[:, None] & inside[None, :]
        feature = tl.load(features + start[:, None] + at[None, :], both, other=0.0)
        wish = tl.load(of_state + context + at, inside, other=0.0).to(tl.float32)
        seen = tl.load(state + context + at, inside, other=0.0).to(tl.float32)
        of_share += tl.sum(feature.to(tl.float32) * wish[None, :], 1)
        mean += tl.sum(wish * seen, 0)
    fit = tl.load(fits + sample * places + rows, here, other=float("-inf"))
    share = tl.exp(fit - tl.load(norms + sample))
    of_fit = tl.where(here, share * (of_share - mean), 0.0)
    tl.store(of_fits + sample * places + rows, of_fit, here)
    for first in range(0, channels, COLUMNS):
        at = first + tl.arange(0, COLUMNS)
        inside = at < channels
        both = here[:, None] & inside[None, :]
        key = tl.load(keys + start[:, None] + at[None, :], both, other=0.0).to(tl.float32)
        asked = tl.load(question + sample * channels + at, inside, other=0.0).to(tl.float32)
        place = _compare(key + asked[None, :], QUICK)
        of_sum = tl.sum(of_fit[:, None] * (1.0 - place * place), 0)
        tl.store(of_sums + (sample * parts + part) * channels + at, of_sum, inside)


@triton.jit
def join_backward(
    of_parts,  # B parts C
    of_sum,  # B C, out
    channels: tl.constexpr,
    parts,
    PARTS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    sample, block = tl.program_id(0), tl.program_id(1)
    part = tl.arange(0, PARTS)
    at = block * COLUMNS + tl.arange(0, COLUMNS)
    inside = at < channels
    start = (sample * parts + part) * channels
    every = tl.load(
        of_parts + start[:, None] + at[None, :],
        (part < parts)[:, None] & inside[None, :],
        other=0.0,
    )
    total = tl.sum(every, 0)
    tl.store(of_sum + sample * channels + at, total.to(of_sum.dtype.element_ty), inside)


@triton.jit
def cell_backward(
    of_state,  # B S: its first H values
    of_asked,  # B 2H
    opened,  # B 4H
    carried,  # B H
    carried_before,  # B H
    of_kept,  # B H: from the step behind, and out: for the step before
    of_gates,  # B 4H, out
    clip,
    hidden,
    state_width,
    FIRST: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = at < hidden
    gate = opened + row * 4 * hidden + at
    i = tl.load(gate, inside)
    f = tl.load(gate + hidden, inside)
    g = tl.load(gate + 2 * hidden, inside)
    o = tl.load(gate + 3 * hidden, inside)
    cell = tl.load(carried + row * hidden + at, inside)
    kept = tl.minimum(tl.maximum(cell, -clip), clip)
    before = tl.zeros([BLOCK], tl.float32)
    if not FIRST:
        before = tl.load(carried_before + row * hidden + at, inside)
        before = tl.minimum(tl.maximum(before, -clip), clip)
    heard = _tanh(kept)
    asked = of_asked + row * 2 * hidden + at
    of_said = tl.load(of_state + row * state_width + at, inside).to(tl.float32)
    of_said += tl.load(asked + hidden, inside).to(tl.float32)
    of_cell = tl.load(of_kept + row * hidden + at, inside)
    of_cell += tl.load(asked, inside).to(tl.float32)
    of_cell += of_said * o * (1.0 - heard * heard)
    of_cell = tl.where(cell == kept, of_cell, 0.0)  # what is clipped learns nothing
    kind = of_gates.dtype.element_ty
    out = of_gates + row * 4 * hidden + at
    tl.store(out, (of_cell * g * i * (1.0 - i)).to(kind), inside)
    tl.store(out + hidden, (of_cell * before * f * (1.0 - f)).to(kind), inside)
    tl.store(out + 2 * hidden, (of_cell * i * (1.0 - g * g)).to(kind), inside)
    tl.store(out + 3 * hidden, (of_said * heard * o * (1.0 - o)).to(kind), inside)
    tl.store(of_kept + row * hidden + at, of_cell * f, inside)


@triton.jit
def gather_backward(
    keys,
    questions,  # L B C
    score,
    of_fits,  # L B N
    of_keys,  # B N C, out
    of_scores,  # B parts C, out
    samples,
    places,
    channels: tl.constexpr,
    parts,
    steps: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    QUICK: tl.constexpr,
):
    """Gradients of keys and score over all steps, with every key read once."""
    sample, part = tl.program_id(0), tl.program_id(1)
    rows = part * ROWS + tl.arange(0, ROWS)
    here = rows < places
    at = tl.program_id(2) * COLUMNS + tl.arange(0, COLUMNS)
    inside = at < channels
    both = here[:, None] & inside[None, :]
    start = (sample.to(tl.int64) * places + rows) * channels
    key = tl.load(keys + start[:, None] + at[None, :], both, other=0.0).to(tl.float32)
    of_key = tl.zeros([ROWS, COLUMNS], tl.float32)
    of_score = tl.zeros([COLUMNS], tl.float32)
    for step in range(steps):
        row = step * samples + sample
        asked = tl.load(questions + row * channels + at, inside, other=0.0).to(tl.float32)
        of_fit = tl.load(of_fits + row * places + rows, here, other=0.0)
        place = _compare(key + asked[None, :], QUICK)
        of_key += of_fit[:, None] * (1.0 - place * place)
        of_score += tl.sum(of_fit[:, None] * place, 0)
    weight = tl.load(score + at, inside, other=0.0).to(tl.float32)
    out = of_keys + start[:, None] + at[None, :]
    tl.store(out, (of_key * weight[None, :]).to(of_keys.dtype.element_ty), both)
    tl.store(of_scores + (sample * parts + part) * channels + at, of_score, inside)
