"""Backward: the gradients of weight and bias, and that of the map, also of one that many read.

Shapes: G groups of pictures with statistics of their own, C channels, S splits of the rows.
"""

from __future__ import annotations

import torch
from torch import Tensor

from trainferry.train.kernels.norm_passes.tiles import (
    BYTES_TOGETHER,
    new_parts,
    shares_to_map,
    shares_to_sum,
    sizes_of,
    stride_of,
    tile_of,
)
from trainferry.train.kernels.norm_passes.values import Ledger, Maps, Parts
from trainferry.train.kernels.rows import Shares


def take_gradients(
    maps: Maps,
    gradient: Tensor,
    rectified: bool,
    counters: Tensor,
    ledger: Ledger | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the gradients of weight and bias, 2 C, and the mean sums, 2 G C.

    The sums are of the gradient, plain and by the distance from the mean. It is added to the
    ledger on the way.
    """
    total = gradient if ledger is None else ledger.gradient
    shares = shares_to_sum([maps.features, gradient, total], maps.groups, BYTES_TOGETHER)
    gradients = gradient, gradient, gradient, None if ledger is None else total
    return _sum_and_finish(maps, shares, gradients, rectified, counters, ledger)


def take_rectified(
    maps: Maps, gradient: Tensor, second: Tensor | None, result: Tensor, counters: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """The same of the gradient where the result is positive; return it too, zero elsewhere.

    Where there is a `second` gradient, of another reader, it is that of both together.
    """
    rectified = torch.empty_like(result)
    other = gradient if second is None else second
    shares = shares_to_sum([maps.features, gradient, result, other], maps.groups, BYTES_TOGETHER)
    gradients = gradient, result, rectified, second
    return *_sum_and_finish(maps, shares, gradients, True, counters, None), rectified


def gradient_of_features(maps: Maps, gradient: Tensor, rectified: bool, means: Tensor) -> Tensor:
    """Return the gradient of the features, with what reaches them through the statistics."""
    from trainferry.train.kernels.programs.norm_gradients import gradient_of_features as program

    features = maps.features
    of_features = torch.empty_like(features, memory_format=torch.channels_last)
    shares = shares_to_map([features, gradient, of_features], BYTES_TOGETHER, maps.groups)
    program[shares.grid](
        *(gradient, features, of_features, maps.statistics, maps.weight, maps.bias, means),
        *sizes_of(shares),
        stride_of(features, shares),
        stride_of(gradient, shares),
        maps.stored,
        maps.epsilon,
        RECTIFIES=rectified,
        **tile_of(shares),
    )
    return of_features


def correct(ledger: Ledger, features: Tensor, statistics: Tensor, channels: slice) -> Tensor:
    """Return the whole gradient of some channels of the map, when all layers have added theirs."""
    from trainferry.train.kernels.programs.norm_gradients import correct as program

    gradient, features = ledger.gradient[:, channels], features[:, channels]
    result = torch.empty_like(features, memory_format=torch.channels_last)
    shares = shares_to_map([features, gradient, result], BYTES_TOGETHER, folded=False)
    table = shares.table
    columns, rows, _ = shares.grid
    program[columns, rows](
        *(gradient, features, result),
        statistics[0, 0, channels],
        ledger.corrections[0, channels],
        *(table.rows, table.columns // table.unit, shares.rows_each),
        stride_of(features, shares),
        statistics.shape[2],
        **{name: value for name, value in tile_of(shares).items() if name != "FOLDED"},
    )
    return result


def _sum_and_finish(
    maps: Maps,
    shares: Shares,
    gradients: tuple[Tensor, Tensor, Tensor, Tensor | None],
    rectified: bool,
    counters: Tensor,
    ledger: Ledger | None,
) -> tuple[Tensor, Tensor]:
    """The last of the gradients is that of the ledger, or else that of a second reader."""
    from trainferry.train.kernels.programs.norm_gradients import sum_up_gradients as program

    gradient, result, only_positive, other = gradients
    total = gradient if other is None else other
    parts = new_parts(gradient, shares)
    of_norm = parts.sums.new_empty(2, shares.table.channels)
    means = parts.sums.new_empty(2, maps.groups, shares.table.channels)
    last_joins = shares.last_can_join(maps.groups)
    program[shares.grid](
        *(gradient, maps.features, result, only_positive, total),
        *(maps.statistics, maps.weight, maps.bias, parts.sums),
        *(counters[1] if last_joins else parts.sums, of_norm, means),
        means if ledger is None else ledger.corrections,
        *sizes_of(shares),
        *(stride_of(each, shares) for each in (maps.features, gradient, total)),
        maps.stored,
        maps.epsilon,
        RECTIFIES=rectified,
        FROM_RESULT=result is not gradient,
        TWICE=ledger is None and other is not None,
        BEGINS=ledger is not None and ledger.is_new,
        ADDS_UP=ledger is not None and not ledger.is_new,
        FINISHES=last_joins,
        **tile_of(shares),
    )
    if not last_joins:
        _finish_gradients(maps, parts, of_norm, means, ledger)
    return of_norm, means


def _finish_gradients(
    maps: Maps, parts: Parts, of_norm: Tensor, means: Tensor, ledger: Ledger | None
) -> None:
    from trainferry.train.kernels.programs.norm_gradients import finish_gradients as program

    shares, channels = parts.shares, parts.shares.table.channels
    entries, columns = shares.joining()
    program[(-(-channels // columns),)](
        *(parts.sums, maps.statistics, maps.weight, of_norm, means),
        means if ledger is None else ledger.corrections,
        *(maps.groups, channels, maps.stored, shares.entries, shares.table.pixels),
        maps.epsilon,
        BEGINS=ledger is not None and ledger.is_new,
        ADDS_UP=ledger is not None and not ledger.is_new,
        ENTRIES=entries,
        CHANNELS=columns,
        num_warps=8,
    )
