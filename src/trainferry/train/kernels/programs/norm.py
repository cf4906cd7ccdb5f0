"""The programs of batch normalisation, forward; `kernels/norm.py` says what they do.

Shapes: G groups with statistics of their own, R rows (pixels) of each, C channels, S splits of the
rows. Where a row is narrow, F rows are folded into one of F * C columns: `columns` counts those,
`total` the values of all rows. Strides, columns and total are given in multiples of UNIT, which
lets a thread load that many values at once. A program takes COLUMNS columns of some rows, ROWS at
a time.
"""

from __future__ import annotations

import triton
import triton.language as tl

JOINED = tl.constexpr(4096)  # values, at a time, by the last program
_SIZES = ["rows", "columns", "channels", "total", "rows_each"]


@triton.jit
def is_inside(row, column, rows, columns, total, FOLDED: tl.constexpr):
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    if FOLDED:  # the last row may be incomplete
        inside = inside & (row[:, None] * columns + column[None, :] < total)
    return inside


@triton.jit
def place_of(group, row, column, rows, stride):
    return (group * rows + row).to(tl.int64)[:, None] * stride + column[None, :]


@triton.jit
def channel_of(column, channels, FOLDED: tl.constexpr):
    if FOLDED:
        return column % channels
    return column


@triton.jit
def load_channels(values, channel, real):
    return tl.load(values + channel, real, other=0.0).to(tl.float32)


@triton.jit
def is_last(counter, programs):
    """Whether all other programs of the counter have stored their sums; it starts anew then."""
    tl.debug_barrier()  # the sums of all threads come before the count of one
    last = tl.atomic_add(counter, 1, sem="acq_rel", scope="gpu") == programs - 1
    tl.store(counter, 0, last)
    return last


@triton.jit
def load_sums(parts, at, inside):
    """Load what other programs, perhaps of this launch, have stored: not from a near cache."""
    return tl.load(parts + at, inside, other=0.0, cache_modifier=".cg")


@triton.jit(
    do_not_specialize=[*_SIZES, "middle", "stride", "copy_stride", "stored", "moving_stride"]
)
def sum_up(
    features,  # G R C
    copy,  # G R C, out, where COPIES
    parts,  # 2 G S+1 F*C, out: sums of distances from a pixel, and of their squares; the pixel
    counters,  # G, column blocks; in and out, where FINISHES: zero before and after
    statistics,  # this and the following as in `finish_statistics`, where FINISHES
    moving_mean,
    moving_variance,
    debiased,
    steps,
    rows,
    columns,
    channels,
    total,
    rows_each,
    middle,
    stride,
    copy_stride,
    stored,
    moving_stride,
    momentum,
    log_decay,
    COPIES: tl.constexpr,
    FINISHES: tl.constexpr,
    DEBIASES: tl.constexpr,
    FOLDED: tl.constexpr,
    UNIT: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    STAGES: tl.constexpr,
):
    """Sums of the rows of a split, of distances from the same pixel: no large sums that cancel.

    It lies in the row `middle` of the group. Where it FINISHES, columns are channels, and the last
    program of some joins all their splits.
    """
    split = tl.program_id(1)
    group = tl.program_id(2)
    columns = columns * UNIT
    total = total * UNIT
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    real = column < columns
    channel = channel_of(column, channels, FOLDED)
    pixel_row = features + (group * rows + middle).to(tl.int64) * stride * UNIT
    pixel = load_channels(pixel_row, channel, real)
    first = split * rows_each
    last = tl.minimum(first + rows_each, rows)
    sums = tl.zeros([ROWS, COLUMNS], tl.float32)
    squares = tl.zeros([ROWS, COLUMNS], tl.float32)
    for start in tl.range(first, last, ROWS, num_stages=STAGES):
        row = start + tl.arange(0, ROWS)
        inside = is_inside(row, column, rows, columns, total, FOLDED)
        at = place_of(group, row, column, rows, stride * UNIT)
        read = tl.load(features + at, inside, other=0.0)
        if COPIES:
            at = place_of(group, row, column, rows, copy_stride * UNIT)
            tl.store(copy + at, read, inside)
        distance = tl.where(inside, read.to(tl.float32) - pixel[None, :], 0.0)
        sums += distance
        squares += distance * distance
    splits = tl.num_programs(1) + 1
    at = (group * splits + split) * columns + column
    half = tl.num_programs(2) * splits * columns
    tl.store(parts + at, tl.sum(sums, 0), real)
    tl.store(parts + half + at, tl.sum(squares, 0), real)
    if split == 0:
        tl.store(parts + (group * splits + splits - 1) * columns + column, pixel, real)
    if FINISHES:
        counter = counters + group * tl.num_programs(0) + tl.program_id(0)
        if is_last(counter, tl.num_programs(1)):
            join_statistics(
                parts,
                statistics,
                moving_mean,
                moving_variance,
                debiased,
                steps,
                column,
                group,
                tl.num_programs(2),
                columns,
                0,
                stored,
                tl.num_programs(1),
                1,
                rows,
                moving_stride,
                momentum,
                log_decay,
                DEBIASES,
                JOINED // COLUMNS,
                COLUMNS,
            )


@triton.jit(
    do_not_specialize=[*_SIZES, "first_new", "stored", "entries", "fold", "count", "moving_stride"]
)
def finish_statistics(
    parts,  # 2 G (S+1)*F N, of the N new channels
    statistics,  # 2 G stored; new ones out
    moving_mean,  # G C, in and out
    moving_variance,  # G C, in and out
    debiased,  # C, out, where DEBIASES
    steps,  # 1, where DEBIASES
    channels,
    first_new,
    stored,
    entries,  # S * F
    fold,
    count,  # rows of a group, before folding
    moving_stride,
    momentum,
    log_decay,
    DEBIASES: tl.constexpr,
    ENTRIES: tl.constexpr,
    CHANNELS: tl.constexpr,
):
    channel = tl.program_id(0) * CHANNELS + tl.arange(0, CHANNELS)
    join_statistics(
        parts,
        statistics,
        moving_mean,
        moving_variance,
        debiased,
        steps,
        channel,
        tl.program_id(1),
        tl.num_programs(1),
        channels,
        first_new,
        stored,
        entries,
        fold,
        count,
        moving_stride,
        momentum,
        log_decay,
        DEBIASES,
        ENTRIES,
        CHANNELS,
    )


@triton.jit
def join_statistics(
    parts,
    statistics,
    moving_mean,
    moving_variance,
    debiased,
    steps,
    channel,
    group,
    groups,
    channels,
    first_new,
    stored,
    entries,
    fold,
    count,
    moving_stride,
    momentum,
    log_decay,
    DEBIASES: tl.constexpr,
    ENTRIES: tl.constexpr,
    CHANNELS: tl.constexpr,
):
    """Join the splits; move the moving statistics of all channels, also of those known before."""
    real = channel < channels
    new = channel - first_new
    is_new = real & (new >= 0)
    width = channels - first_new
    kept = entries + fold  # with the row of the pixel behind
    half = groups * kept * width
    shift = load_sums(parts, (group * kept + entries) * width + new, is_new)
    at_moving = group * moving_stride + channel
    old_mean = tl.load(moving_mean + at_moving, real, other=0.0)
    old_variance = tl.load(moving_variance + at_moving, real, other=0.0)
    sums = tl.zeros([ENTRIES, CHANNELS], tl.float32)
    squares = tl.zeros([ENTRIES, CHANNELS], tl.float32)
    start = 0
    while start < entries:
        entry = start + tl.arange(0, ENTRIES)
        inside = (entry < entries)[:, None] & is_new[None, :]
        at = (group * kept + entry)[:, None] * width + new[None, :]
        sums += load_sums(parts, at, inside)
        squares += load_sums(parts, half + at, inside)
        start += ENTRIES
    moved = tl.sum(sums, 0) / count
    mean = shift + moved
    variance = tl.sum(squares, 0) / count - moved * moved
    variance = tl.where(variance < 0.0, 0.0, variance)  # what is no number stays so
    at = group * stored + channel
    known = real & (new < 0)
    mean = tl.where(is_new, mean, tl.load(statistics + at, known, other=0.0))
    variance = tl.where(
        is_new, variance, tl.load(statistics + groups * stored + at, known, other=0.0)
    )
    tl.store(statistics + at, mean, is_new)
    tl.store(statistics + groups * stored + at, variance, is_new)

    mean = momentum * mean + (1.0 - momentum) * old_mean
    tl.store(moving_mean + at_moving, mean, real)
    unbiased = variance * (count / (count - 1.0))
    variance = momentum * unbiased + (1.0 - momentum) * old_variance
    tl.store(moving_variance + at_moving, variance, real)
    if DEBIASES:
        step = tl.load(steps) + 1.0  # counted by `transform`, when nobody reads it any more
        tl.store(debiased + channel, mean / (1.0 - tl.exp2(step * log_decay)), real)


@triton.jit(do_not_specialize=[*_SIZES, "stride", "added_stride", "result_stride", "stored"])
def transform(
    features,  # G R C
    added,  # G R C, where ADDS
    result,  # G R C, out
    statistics,  # 2 G stored
    weight,  # C
    bias,  # C
    batches,  # 1, counted up, where COUNTS
    steps,  # 1, counted up, where DEBIASES
    rows,
    columns,
    channels,
    total,
    rows_each,
    stride,
    added_stride,
    result_stride,
    stored,
    epsilon,
    RECTIFIES: tl.constexpr,
    ADDS: tl.constexpr,
    COUNTS: tl.constexpr,
    DEBIASES: tl.constexpr,
    FOLDED: tl.constexpr,
    UNIT: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    STAGES: tl.constexpr,
):
    split = tl.program_id(1)
    group = tl.program_id(2)
    if (tl.program_id(0) == 0) & (split == 0) & (group == 0):
        if COUNTS:
            tl.store(batches, tl.load(batches) + 1)
        if DEBIASES:
            tl.store(steps, tl.load(steps) + 1.0)
    columns = columns * UNIT
    total = total * UNIT
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    channel = channel_of(column, channels, FOLDED)
    real = column < columns
    mean = load_channels(statistics, group * stored + channel, real)
    variance = load_channels(statistics, (tl.num_programs(2) + group) * stored + channel, real)
    factor = load_channels(weight, channel, real) * tl.rsqrt(variance + epsilon)
    shift = load_channels(bias, channel, real)
    first = split * rows_each
    last = tl.minimum(first + rows_each, rows)
    for start in tl.range(first, last, ROWS, num_stages=STAGES):
        row = start + tl.arange(0, ROWS)
        inside = is_inside(row, column, rows, columns, total, FOLDED)
        at = place_of(group, row, column, rows, stride * UNIT)
        value = tl.load(features + at, inside, other=0.0).to(tl.float32)
        value = (value - mean[None, :]) * factor[None, :] + shift[None, :]
        if ADDS:
            at = place_of(group, row, column, rows, added_stride * UNIT)
            value += tl.load(added + at, inside, other=0.0).to(tl.float32)
        if RECTIFIES:
            value = tl.where(value < 0.0, 0.0, value)  # what is no number stays so
        at = place_of(group, row, column, rows, result_stride * UNIT)
        tl.store(result + at, value.to(result.dtype.element_ty), inside)
