"""The programs that look at places in the attention decoder; `kernels/attention.py` tells why.

Shapes as there: B samples, N places, C channels, H hidden values, L steps, S = H + C. A program
takes one part of a sample's places, `TILES` times `ROWS` of them, and their channels in `BLOCKS`
of `COLUMNS`. The last program of a sample joins its parts. Every other step is `turned`: what was
looked at last, and is still in the cache, comes first. Tensors are contiguous.
"""

from __future__ import annotations

import triton
import triton.language as tl

from trainferry.train.kernels.programs.attention_cell import tanh
from trainferry.train.kernels.programs.chain import fetch_rows, wait_for_kernel_before
from trainferry.train.kernels.programs.norm import is_last, load_sums

_LOWEST = tl.constexpr(-1e30)  # below every fit, and finite: a difference of two is a number


@triton.jit
def _compare(x, QUICK: tl.constexpr):
    """The tanh of a place and a question; `QUICK` is exact to 2^-11, as half precision is."""
    if QUICK:
        y = tl.inline_asm_elementwise(
            "tanh.approx.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
        )
    else:
        y = tanh(x)
    return y


@triton.jit
def _load_channels(values, at, channels: tl.constexpr):
    return tl.load(values + at, at < channels, other=0.0).to(tl.float32)


@triton.jit
def _load_tile(values, row, at, places, channels: tl.constexpr):
    """Channels of some places, ROWS COLUMNS."""
    inside = (row < places)[:, None] & (at < channels)[None, :]
    near = values + row[:, None] * channels + at[None, :]
    return tl.load(near, inside, other=0.0).to(tl.float32)


@triton.jit
def _choose_soon(first, places, turned, rows: tl.constexpr, AHEAD: tl.constexpr):
    """The first of the places of a part that will be looked at first."""
    end = tl.minimum(first + rows, places)
    return tl.where(turned != 0, tl.maximum(first, end - AHEAD), first)


@triton.jit(do_not_specialize=["turned"])
def look_forward(
    keys,  # B N C
    features,  # B N C
    question,  # B C
    score,  # C
    fits,  # B N, out
    peaks,  # B parts, out: the largest fit of a part
    sums,  # B parts, out: of the exponentials below that peak
    contexts,  # B parts C, out
    counters,  # B, in and out: zero before and after
    state,  # B S, out: its last C values
    norms,  # B, out: logarithm of the sum of all exponentials
    places,
    turned,
    channels: tl.constexpr,
    hidden: tl.constexpr,
    parts: tl.constexpr,
    PARTS: tl.constexpr,
    TILES: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCKS: tl.constexpr,
    COLUMNS: tl.constexpr,
    STAGES: tl.constexpr,
    AHEAD: tl.constexpr,
    QUICK: tl.constexpr,
    CHAINED: tl.constexpr,
):
    part, sample = tl.program_id(0), tl.program_id(1)
    first = part * TILES * ROWS
    keys += sample.to(tl.int64) * places * channels
    features += sample.to(tl.int64) * places * channels
    if AHEAD:
        soon = _choose_soon(first, places, turned, TILES * ROWS, AHEAD)
        fetch_rows(keys, soon, tl.minimum(AHEAD, places - soon), channels)
        fetch_rows(features, soon, tl.minimum(AHEAD, places - soon), channels)
    wait_for_kernel_before(CHAINED)
    column = tl.arange(0, COLUMNS)
    asked, weight, seen = (), (), ()
    for block in tl.static_range(BLOCKS):
        at = block * COLUMNS + column
        asked += (_load_channels(question + sample * channels, at, channels),)
        weight += (_load_channels(score, at, channels),)
        seen += (tl.zeros([ROWS, COLUMNS], tl.float32),)
    # Every row of a tile has a peak of its own, so that no thread waits for another on the way.
    peak = tl.full([ROWS], _LOWEST, tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    for number in tl.range(0, TILES, num_stages=STAGES):
        tile = tl.where(turned != 0, TILES - 1 - number, number)
        row = first + tile * ROWS + tl.arange(0, ROWS)
        here = row < places
        product = tl.zeros([ROWS, COLUMNS], tl.float32)
        for block in tl.static_range(BLOCKS):
            key = _load_tile(keys, row, block * COLUMNS + column, places, channels)
            product += _compare(key + asked[block][None, :], QUICK) * weight[block][None, :]
        fit = tl.where(here, tl.sum(product, 1), float("-inf"))
        tl.store(fits + sample * places + row, fit, here)
        higher = tl.maximum(peak, fit)
        keep, share = tl.exp(peak - higher), tl.exp(fit - higher)
        peak, total = higher, total * keep + share
        seen_now = ()
        for block in tl.static_range(BLOCKS):
            feature = _load_tile(features, row, block * COLUMNS + column, places, channels)
            seen_now += (seen[block] * keep[:, None] + share[:, None] * feature,)
        seen = seen_now
    highest = tl.max(peak, 0)
    factor = tl.exp(peak - highest)
    entry = sample * parts + part
    tl.store(peaks + entry, highest)
    tl.store(sums + entry, tl.sum(total * factor, 0))
    for block in tl.static_range(BLOCKS):
        at = block * COLUMNS + column
        context = tl.sum(seen[block] * factor[:, None], 0)
        tl.store(contexts + entry * channels + at, context, at < channels)
    if is_last(counters + sample, parts):
        every = tl.arange(0, PARTS)
        out = state + sample * (hidden + channels) + hidden
        weights = _weigh_parts(peaks, sums, norms + sample, sample * parts, every, parts)
        for block in tl.static_range(BLOCKS):
            at = block * COLUMNS + column
            joined = _join(contexts, weights, sample * parts, every, at, parts, channels)
            tl.store(out + at, joined.to(state.dtype.element_ty), at < channels)


@triton.jit
def _weigh_parts(peaks, sums, norm, first, every, parts: tl.constexpr):
    """What each part of a sample counts for, and the logarithm of the sum of exponentials."""
    real = every < parts
    peak = tl.where(real, load_sums(peaks, first + every, real), _LOWEST)
    highest = tl.max(peak, 0)
    factor = tl.exp(peak - highest)
    total = tl.sum(factor * load_sums(sums, first + every, real), 0)
    tl.store(norm, highest + tl.log(total))
    return factor / total


@triton.jit
def _join(values, factor, first, every, at, parts: tl.constexpr, channels: tl.constexpr):
    inside = (every < parts)[:, None] & (at < channels)[None, :]
    part = load_sums(values, (first + every)[:, None] * channels + at[None, :], inside)
    return tl.sum(part * factor[:, None], 0)


@triton.jit(do_not_specialize=["turned"])
def look_backward(
    keys,
    features,
    question,
    of_state,  # B S: its last C values are the gradient of the context
    state,  # B S
    fits,
    norms,
    of_fits,  # B N, out
    shares,  # B N, out: what every place has in the context
    of_parts,  # B parts C, out
    counters,
    of_sum,  # B C, out: gradient of the question before the score
    places,
    turned,
    channels: tl.constexpr,
    hidden: tl.constexpr,
    parts: tl.constexpr,
    PARTS: tl.constexpr,
    TILES: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCKS: tl.constexpr,
    COLUMNS: tl.constexpr,
    STAGES: tl.constexpr,
    AHEAD: tl.constexpr,
    QUICK: tl.constexpr,
    CHAINED: tl.constexpr,
):
    part, sample = tl.program_id(0), tl.program_id(1)
    first = part * TILES * ROWS
    keys += sample.to(tl.int64) * places * channels
    features += sample.to(tl.int64) * places * channels
    if AHEAD:
        soon = _choose_soon(first, places, turned, TILES * ROWS, AHEAD)
        fetch_rows(features, soon, tl.minimum(AHEAD, places - soon), channels)
        fetch_rows(keys, soon, tl.minimum(AHEAD, places - soon), channels)
    wait_for_kernel_before(CHAINED)
    column = tl.arange(0, COLUMNS)
    context = sample * (hidden + channels) + hidden
    asked, wish, of_sums = (), (), ()
    both = tl.zeros([COLUMNS], tl.float32)
    for block in tl.static_range(BLOCKS):
        at = block * COLUMNS + column
        asked += (_load_channels(question + sample * channels, at, channels),)
        wish += (_load_channels(of_state + context, at, channels),)
        both += wish[block] * _load_channels(state + context, at, channels)
        of_sums += (tl.zeros([ROWS, COLUMNS], tl.float32),)
    mean = tl.sum(both, 0)
    norm = tl.load(norms + sample)
    for number in tl.range(0, TILES, num_stages=STAGES):
        tile = tl.where(turned != 0, TILES - 1 - number, number)
        row = first + tile * ROWS + tl.arange(0, ROWS)
        here = row < places
        at_row = sample * places + row
        product = tl.zeros([ROWS, COLUMNS], tl.float32)
        for block in tl.static_range(BLOCKS):
            feature = _load_tile(features, row, block * COLUMNS + column, places, channels)
            product += feature * wish[block][None, :]
        share = tl.exp(tl.load(fits + at_row, here, other=float("-inf")) - norm)
        of_fit = tl.where(here, share * (tl.sum(product, 1) - mean), 0.0)
        tl.store(shares + at_row, share.to(shares.dtype.element_ty), here)
        tl.store(of_fits + at_row, of_fit, here)
        of_sums_now = ()
        for block in tl.static_range(BLOCKS):
            key = _load_tile(keys, row, block * COLUMNS + column, places, channels)
            place = _compare(key + asked[block][None, :], QUICK)
            of_sums_now += (of_sums[block] + of_fit[:, None] * (1.0 - place * place),)
        of_sums = of_sums_now
    entry = sample * parts + part
    for block in tl.static_range(BLOCKS):
        at = block * COLUMNS + column
        tl.store(of_parts + entry * channels + at, tl.sum(of_sums[block], 0), at < channels)
    if is_last(counters + sample, parts):
        every = tl.arange(0, PARTS)
        ones = tl.full([PARTS], 1.0, tl.float32)
        for block in tl.static_range(BLOCKS):
            at = block * COLUMNS + column
            joined = _join(of_parts, ones, sample * parts, every, at, parts, channels)
            out = of_sum + sample * channels + at
            tl.store(out, joined.to(of_sum.dtype.element_ty), at < channels)


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
    steps: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    QUICK: tl.constexpr,
):
    """Gradients of keys and score over all steps, with every key read once."""
    sample, part = tl.program_id(0), tl.program_id(1)
    row = part * ROWS + tl.arange(0, ROWS)
    here = row < places
    at = tl.program_id(2) * COLUMNS + tl.arange(0, COLUMNS)
    near = sample.to(tl.int64) * places * channels
    key = _load_tile(keys + near, row, at, places, channels)
    of_key = tl.zeros([ROWS, COLUMNS], tl.float32)
    of_score = tl.zeros([ROWS, COLUMNS], tl.float32)
    for step in range(steps):
        entry = step * samples + sample
        asked = _load_channels(questions + entry * channels, at, channels)
        of_fit = tl.load(of_fits + entry * places + row, here, other=0.0)
        place = _compare(key + asked[None, :], QUICK)
        of_key += of_fit[:, None] * (1.0 - place * place)
        of_score += of_fit[:, None] * place
    of_key *= _load_channels(score, at, channels)[None, :]
    out = of_keys + near + row[:, None] * channels + at[None, :]
    inside = here[:, None] & (at < channels)[None, :]
    tl.store(out, of_key.to(of_keys.dtype.element_ty), inside)
    entry = sample * tl.num_programs(1) + part
    tl.store(of_scores + entry * channels + at, tl.sum(of_score, 0), at < channels)
