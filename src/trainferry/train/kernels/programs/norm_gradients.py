"""The programs of batch normalisation, backward; shapes and names are those of `norm.py`."""

from __future__ import annotations

import triton
import triton.language as tl

from trainferry.train.kernels.programs.norm import (
    JOINED,
    channel_of,
    is_inside,
    is_last,
    load_channels,
    load_sums,
    place_of,
)

_SIZES = ["rows", "columns", "channels", "total", "rows_each"]


@triton.jit(do_not_specialize=[*_SIZES, "stride", "gradient_stride", "total_stride", "stored"])
def sum_up_gradients(
    gradient,  # G R C
    features,  # G R C
    result,  # G R C, contiguous, where FROM_RESULT
    rectified,  # G R C, out, contiguous, where FROM_RESULT
    total_gradient,  # G R C, in and out, where ADDS_UP or BEGINS; only in, where TWICE
    statistics,  # 2 G stored
    weight,  # C
    bias,  # C
    parts,  # 2 G S F*C, out
    counters,  # column blocks; in and out, where FINISHES: zero before and after
    of_norm,  # this and the following as in `finish_gradients`, where FINISHES
    means,
    corrections,
    rows,
    columns,
    channels,
    total,
    rows_each,
    stride,
    gradient_stride,
    total_stride,
    stored,
    epsilon,
    RECTIFIES: tl.constexpr,
    FROM_RESULT: tl.constexpr,
    TWICE: tl.constexpr,
    BEGINS: tl.constexpr,
    ADDS_UP: tl.constexpr,
    FINISHES: tl.constexpr,
    FOLDED: tl.constexpr,
    UNIT: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    STAGES: tl.constexpr,
):
    """The sums that reach through the statistics.

    In a dense block, also the part of the features' gradient that does not. Where it FINISHES,
    columns are channels, and the last program of some joins all their splits.
    """
    split = tl.program_id(1)
    group = tl.program_id(2)
    columns = columns * UNIT
    total = total * UNIT
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    channel = channel_of(column, channels, FOLDED)
    real = column < columns
    mean = load_channels(statistics, group * stored + channel, real)
    variance = load_channels(statistics, (tl.num_programs(2) + group) * stored + channel, real)
    factor = load_channels(weight, channel, real) * tl.rsqrt(variance + epsilon)
    shift = load_channels(bias, channel, real)
    sums = tl.zeros([ROWS, COLUMNS], tl.float32)
    products = tl.zeros([ROWS, COLUMNS], tl.float32)
    first = split * rows_each
    last = tl.minimum(first + rows_each, rows)
    for start in tl.range(first, last, ROWS, num_stages=STAGES):
        row = start + tl.arange(0, ROWS)
        inside = is_inside(row, column, rows, columns, total, FOLDED)
        at = place_of(group, row, column, rows, stride * UNIT)
        value = tl.load(features + at, inside, other=0.0).to(tl.float32) - mean[None, :]
        at = place_of(group, row, column, rows, gradient_stride * UNIT)
        slope = tl.load(gradient + at, inside, other=0.0).to(tl.float32)
        if TWICE:
            at = place_of(group, row, column, rows, total_stride * UNIT)
            slope += tl.load(total_gradient + at, inside, other=0.0).to(tl.float32)
        if FROM_RESULT:
            at = place_of(group, row, column, rows, columns)
            positive = tl.load(result + at, inside, other=0.0).to(tl.float32) > 0.0
            slope = tl.where(positive, slope, 0.0)
            tl.store(rectified + at, slope.to(rectified.dtype.element_ty), inside)
        elif RECTIFIES:
            slope = tl.where(value * factor[None, :] + shift[None, :] > 0.0, slope, 0.0)
        if BEGINS or ADDS_UP:
            at = place_of(group, row, column, rows, total_stride * UNIT)
            so_far = slope * factor[None, :]
            if ADDS_UP:
                so_far += tl.load(total_gradient + at, inside, other=0.0).to(tl.float32)
            tl.store(total_gradient + at, so_far.to(total_gradient.dtype.element_ty), inside)
        sums += slope
        products += slope * value
    at = (group * tl.num_programs(1) + split) * columns + column
    half = tl.num_programs(2) * tl.num_programs(1) * columns
    tl.store(parts + at, tl.sum(sums, 0), real)
    tl.store(parts + half + at, tl.sum(products, 0), real)
    if FINISHES:
        programs = tl.num_programs(1) * tl.num_programs(2)
        if is_last(counters + tl.program_id(0), programs):
            join_gradients(
                parts,
                statistics,
                weight,
                of_norm,
                means,
                corrections,
                column,
                tl.num_programs(2),
                columns,
                stored,
                tl.num_programs(1),
                rows,
                epsilon,
                BEGINS,
                ADDS_UP,
                JOINED // COLUMNS,
                COLUMNS,
            )


@triton.jit(do_not_specialize=["groups", "channels", "stored", "entries", "count"])
def finish_gradients(
    parts,  # 2 G S*F C
    statistics,  # 2 G stored
    weight,  # C
    of_norm,  # 2 C, out: gradients of weight and bias
    means,  # 2 G C, out: what to take from every value, plain and by its distance from the mean
    corrections,  # 2 stored, in and out, where BEGINS or ADDS_UP: the same, of all layers
    groups,
    channels,
    stored,
    entries,
    count,
    epsilon,
    BEGINS: tl.constexpr,
    ADDS_UP: tl.constexpr,
    ENTRIES: tl.constexpr,
    CHANNELS: tl.constexpr,
):
    channel = tl.program_id(0) * CHANNELS + tl.arange(0, CHANNELS)
    join_gradients(
        parts,
        statistics,
        weight,
        of_norm,
        means,
        corrections,
        channel,
        groups,
        channels,
        stored,
        entries,
        count,
        epsilon,
        BEGINS,
        ADDS_UP,
        ENTRIES,
        CHANNELS,
    )


@triton.jit
def join_gradients(
    parts,
    statistics,
    weight,
    of_norm,
    means,
    corrections,
    channel,
    groups,
    channels,
    stored,
    entries,
    count,
    epsilon,
    BEGINS: tl.constexpr,
    ADDS_UP: tl.constexpr,
    ENTRIES: tl.constexpr,
    CHANNELS: tl.constexpr,
):
    """Join the splits of some channels, group by group."""
    real = channel < channels
    factor = load_channels(weight, channel, real)
    of_weight = tl.zeros([CHANNELS], tl.float32)
    of_bias = tl.zeros([CHANNELS], tl.float32)
    half = groups * entries * channels
    group = 0
    while group < groups:
        variance = load_channels(statistics, (groups + group) * stored + channel, real)
        inverse = tl.rsqrt(variance + epsilon)
        sums = tl.zeros([ENTRIES, CHANNELS], tl.float32)
        products = tl.zeros([ENTRIES, CHANNELS], tl.float32)
        start = 0
        while start < entries:
            entry = start + tl.arange(0, ENTRIES)
            inside = (entry < entries)[:, None] & real[None, :]
            at = (group * entries + entry)[:, None] * channels + channel[None, :]
            sums += load_sums(parts, at, inside)
            products += load_sums(parts, half + at, inside)
            start += ENTRIES
        plain = tl.sum(sums, 0)
        by_distance = tl.sum(products, 0) * inverse
        of_bias += plain
        of_weight += by_distance
        plain = plain / count
        by_distance = by_distance * inverse / count
        tl.store(means + group * channels + channel, plain, real)
        tl.store(means + (groups + group) * channels + channel, by_distance, real)
        if BEGINS or ADDS_UP:
            plain = plain * factor * inverse
            by_distance = by_distance * factor * inverse
            if ADDS_UP:
                plain += load_channels(corrections, channel, real)
                by_distance += load_channels(corrections, stored + channel, real)
            tl.store(corrections + channel, plain, real)
            tl.store(corrections + stored + channel, by_distance, real)
        group += 1
    tl.store(of_norm + channel, of_weight, real)
    tl.store(of_norm + channels + channel, of_bias, real)


@triton.jit(do_not_specialize=[*_SIZES, "stride", "gradient_stride", "stored"])
def gradient_of_features(
    gradient,  # G R C
    features,  # G R C
    of_features,  # G R C, out, contiguous
    statistics,  # 2 G stored
    weight,  # C
    bias,  # C
    means,  # 2 G C
    rows,
    columns,
    channels,
    total,
    rows_each,
    stride,
    gradient_stride,
    stored,
    epsilon,
    RECTIFIES: tl.constexpr,
    FOLDED: tl.constexpr,
    UNIT: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    STAGES: tl.constexpr,
):
    split = tl.program_id(1)
    group = tl.program_id(2)
    groups = tl.num_programs(2)
    columns = columns * UNIT
    total = total * UNIT
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    channel = channel_of(column, channels, FOLDED)
    real = column < columns
    mean = load_channels(statistics, group * stored + channel, real)
    variance = load_channels(statistics, (groups + group) * stored + channel, real)
    factor = load_channels(weight, channel, real) * tl.rsqrt(variance + epsilon)
    shift = load_channels(bias, channel, real)
    plain = load_channels(means, group * channels + channel, real)
    by_distance = load_channels(means, (groups + group) * channels + channel, real)
    first = split * rows_each
    last = tl.minimum(first + rows_each, rows)
    for start in tl.range(first, last, ROWS, num_stages=STAGES):
        row = start + tl.arange(0, ROWS)
        inside = is_inside(row, column, rows, columns, total, FOLDED)
        at = place_of(group, row, column, rows, stride * UNIT)
        value = tl.load(features + at, inside, other=0.0).to(tl.float32) - mean[None, :]
        at = place_of(group, row, column, rows, gradient_stride * UNIT)
        slope = tl.load(gradient + at, inside, other=0.0).to(tl.float32)
        if RECTIFIES:
            slope = tl.where(value * factor[None, :] + shift[None, :] > 0.0, slope, 0.0)
        slope = (slope - plain[None, :] - value * by_distance[None, :]) * factor[None, :]
        at = place_of(group, row, column, rows, columns)
        tl.store(of_features + at, slope.to(of_features.dtype.element_ty), inside)


@triton.jit(do_not_specialize=["rows", "columns", "rows_each", "stride", "stored"])
def correct(
    total_gradient,  # R C of a wider map
    features,  # R C of a wider map
    of_features,  # R C, out, contiguous
    statistics,  # 2 stored, from the first of these channels on
    corrections,  # 2 stored, likewise
    rows,
    columns,
    rows_each,
    stride,
    stored,
    UNIT: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    STAGES: tl.constexpr,
):
    """Take from a gradient what reached its features through their statistics, in all layers."""
    columns = columns * UNIT
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    real = column < columns
    mean = load_channels(statistics, column, real)
    plain = load_channels(corrections, column, real)
    by_distance = load_channels(corrections, stored + column, real)
    first = tl.program_id(1) * rows_each
    last = tl.minimum(first + rows_each, rows)
    for start in tl.range(first, last, ROWS, num_stages=STAGES):
        row = start + tl.arange(0, ROWS)
        inside = is_inside(row, column, rows, columns, 0, False)
        at = place_of(0, row, column, rows, stride * UNIT)
        value = tl.load(features + at, inside, other=0.0).to(tl.float32) - mean[None, :]
        slope = tl.load(total_gradient + at, inside, other=0.0).to(tl.float32)
        slope = slope - plain[None, :] - value * by_distance[None, :]
        at = place_of(0, row, column, rows, columns)
        tl.store(of_features + at, slope.to(of_features.dtype.element_ty), inside)
