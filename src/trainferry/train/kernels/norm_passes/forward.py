"""Forward: the statistics of a map, and the map normalised by them.

Shapes: G groups of pictures with statistics of their own, C channels, S splits of the rows.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from trainferry.train.kernels.norm_passes.tiles import (
    BYTES_ALONE,
    BYTES_TOGETHER,
    new_parts,
    shares_to_map,
    shares_to_sum,
    sizes_of,
    stride_of,
    tile_of,
)
from trainferry.train.kernels.norm_passes.values import Maps, Norm, Parts
from trainferry.train.kernels.rows import Table


def take_statistics(features: Tensor, statistics: Tensor, norm: Norm, counters: Tensor) -> None:
    """Compute the statistics of the features and move those of the norm."""
    shares = shares_to_sum([features], norm.groups, BYTES_ALONE)
    parts = new_parts(features, shares, more=1)
    if shares.last_can_join():
        _start_sum_up(parts, features, None, (statistics, norm, counters[0]))
    else:
        _start_sum_up(parts, features, None, None)
        finish_statistics(parts, statistics, norm)


def sum_up(features: Tensor, copy: Tensor) -> Parts:
    """Statistics of each split; `copy`, of the same shape, gets the values on the way."""
    shares = shares_to_sum([features, copy], 1, BYTES_ALONE)
    parts = new_parts(features, shares, more=1)
    _start_sum_up(parts, features, copy, None)
    return parts


def finish_statistics(parts: Parts, statistics: Tensor, norm: Norm) -> None:
    """Join the statistics of the splits and move those of the norm.

    The parts are of the norm's last channels; what is known of those before stays.
    """
    from trainferry.train.kernels.programs.norm import finish_statistics as program

    shares, table = parts.shares, parts.shares.table
    channels = norm.weight.numel()
    entries, columns = shares.joining()
    program[-(-channels // columns), table.groups](
        *(parts.sums, statistics, *_moving(norm)),
        *(channels, channels - table.channels, statistics.shape[2]),
        *(shares.entries, table.fold, table.pixels),
        *_pace(norm),
        DEBIASES=norm.debiased is not None,
        ENTRIES=entries,
        CHANNELS=columns,
        num_warps=8,
    )


def transform(
    maps: Maps,
    norm: Norm,
    rectified: bool,
    added: Tensor | None = None,
    into: Tensor | None = None,
) -> Tensor:
    """Normalise, add and rectify, into some channels of a map if told so; count the batch."""
    from trainferry.train.kernels.programs.norm import transform as program

    features = maps.features
    result = into
    if result is None:
        result = torch.empty_like(features, memory_format=torch.channels_last)
    other = features if added is None else added
    bytes_each = BYTES_ALONE if added is None else BYTES_TOGETHER
    shares = shares_to_map([features, result, other], bytes_each, maps.groups)
    program[shares.grid](
        *(features, other, result, maps.statistics, maps.weight, maps.bias),
        maps.statistics if norm.batches is None else norm.batches,
        maps.statistics if norm.steps is None else norm.steps,
        *sizes_of(shares),
        *(stride_of(each, shares) for each in (features, other, result)),
        maps.stored,
        maps.epsilon,
        RECTIFIES=rectified,
        ADDS=added is not None,
        COUNTS=norm.batches is not None,
        DEBIASES=norm.steps is not None,
        **tile_of(shares),
    )
    return result


def _start_sum_up(
    parts: Parts,
    features: Tensor,
    copy: Tensor | None,
    finish: tuple[Tensor, Norm, Tensor] | None,
) -> None:
    """Start the program; with statistics, norm and counters it finishes them too."""
    from trainferry.train.kernels.programs.norm import sum_up as program

    shares = parts.shares
    other = features if copy is None else copy
    unused = parts.sums
    statistics, norm, counters = (unused, None, unused) if finish is None else finish
    program[shares.grid](
        *(features, other, parts.sums, counters, statistics),
        *([unused] * 4 if norm is None else _moving(norm)),
        *sizes_of(shares),
        _middle(features, shares.table),
        *(stride_of(features, shares), stride_of(other, shares), statistics.shape[2]),
        *((0, 0.0, 0.0) if norm is None else _pace(norm)),
        COPIES=copy is not None,
        FINISHES=norm is not None,
        DEBIASES=norm is not None and norm.debiased is not None,
        **tile_of(shares),
    )


def _moving(norm: Norm) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """What moves, and where there is nothing to debias, something in its place."""
    debiased = norm.mean if norm.debiased is None else norm.debiased
    return norm.mean, norm.variance, debiased, norm.mean if norm.steps is None else norm.steps


def _pace(norm: Norm) -> tuple[int, float, float]:
    """How far apart the groups' moving statistics lie, and how fast they move."""
    stride = norm.mean.stride(0) if norm.groups > 1 else 0
    if norm.debiased is None:
        return stride, norm.momentum, 0.0
    decay = torch.tensor(1 - norm.momentum, dtype=torch.float32).item()
    return stride, norm.momentum, math.log2(decay)


def _middle(features: Tensor, table: Table) -> int:
    """Return the row of a pixel that is like most others: not at an edge, next to padding."""
    height, width = features.shape[2:]
    pictures = table.pixels // (height * width)
    return ((pictures // 2 * height + height // 2) * width + width // 2) // table.fold
