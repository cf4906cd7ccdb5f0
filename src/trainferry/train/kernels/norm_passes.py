"""The passes of batch normalisation over channels-last maps, each the start of one program.

Shapes: G groups of pictures with statistics of their own, C channels, S splits of the rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

from trainferry.devices.capture import is_recording
from trainferry.train.kernels.rows import (
    Shares,
    Table,
    row_stride,
    share_to_map,
    share_to_sum,
    table_of,
    table_to_sum,
)

# Whether the last of the programs that sum up may join the sums, instead of another launch.
LAST_JOINS = True

_BYTES_ALONE = 8192  # of a tile, where a program reads one map
_BYTES_TOGETHER = 4096  # and where it reads several
# Tiles that a program has or waits for: two are on their way while it works on one. Programs of a
# map with few values have few tiles, and take longer to begin than they would wait.
_STAGES, _FEW = 3, 2**22


@dataclass(frozen=True)
class Norm:
    """Weights and moving statistics of a norm; the latter are G C where there are groups.

    `debiased`, where there is one, is `mean` without its start at zero, after so many `steps`.
    """

    weight: Tensor
    bias: Tensor
    mean: Tensor
    variance: Tensor
    momentum: float
    epsilon: float
    batches: Tensor | None = None
    debiased: Tensor | None = None
    steps: Tensor | None = None

    @property
    def groups(self) -> int:
        return self.mean.numel() // self.weight.numel()


@dataclass(frozen=True)
class Maps:
    """What both directions read; `statistics` are means and variances, 2 G C or wider."""

    features: Tensor
    statistics: Tensor
    weight: Tensor
    bias: Tensor
    epsilon: float

    @property
    def groups(self) -> int:
        return self.statistics.shape[1]

    @property
    def stored(self) -> int:
        """How many channels the statistics are of: those of the features are the first."""
        return self.statistics.shape[2]


@dataclass(frozen=True)
class Parts:
    """Two sums per split of the rows, folded row and channel, 2 G S F*C; S+1 for statistics."""

    sums: Tensor
    shares: Shares


@dataclass(frozen=True)
class Ledger:
    """Gradients of a map that many layers read, added up without what the statistics take away.

    That is the same for all rows but for a factor: `corrections` add it up per channel.
    """

    gradient: Tensor
    corrections: Tensor
    is_new: bool


def counters_of(norm: Norm) -> Tensor:
    """Return what programs that sum up count themselves with, 2 G*C: forward, backward.

    Each norm has its own, since norms may run at the same time. All are zero between launches, and
    stay where they are as long as the weight does: recorded graphs know where that is.
    """
    shape = 2, norm.groups * norm.weight.numel()
    kept: Tensor | None = _counters.get(norm.weight)
    if kept is not None and kept.shape == shape and kept.device == norm.weight.device:
        return kept
    counters = torch.zeros(shape, dtype=torch.int32, device=norm.weight.device)
    if not is_recording(norm.weight.device):  # what a recording makes zero is so in replays only
        _counters.setdefault(norm.weight, counters)
    return counters


_counters = WeakTensorKeyDictionary()


def take_statistics(features: Tensor, statistics: Tensor, norm: Norm, counters: Tensor) -> None:
    """Compute the statistics of the features and move those of the norm."""
    shares = _shares_to_sum([features], norm.groups, _BYTES_ALONE)
    parts = Parts(_parts(features, shares, more=1), shares)
    if LAST_JOINS and shares.last_can_join():
        _start_sum_up(parts, features, None, (statistics, norm, counters[0]))
    else:
        _start_sum_up(parts, features, None, None)
        finish_statistics(parts, statistics, norm)


def sum_up(features: Tensor, copy: Tensor) -> Parts:
    """Statistics of each split; `copy`, of the same shape, gets the values on the way."""
    shares = _shares_to_sum([features, copy], 1, _BYTES_ALONE)
    parts = Parts(_parts(features, shares, more=1), shares)
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
    table = table_of([features, result, other], maps.groups)
    bytes_each = _BYTES_ALONE if added is None else _BYTES_TOGETHER
    shares = share_to_map(table, bytes_each // features.element_size())
    program[shares.grid](
        *(features, other, result, maps.statistics, maps.weight, maps.bias),
        maps.statistics if norm.batches is None else norm.batches,
        maps.statistics if norm.steps is None else norm.steps,
        *_sizes(shares),
        *(_stride(each, shares) for each in (features, other, result)),
        maps.stored,
        maps.epsilon,
        RECTIFIES=rectified,
        ADDS=added is not None,
        COUNTS=norm.batches is not None,
        DEBIASES=norm.steps is not None,
        **_tile(shares),
    )
    return result


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
    shares = _shares_to_sum([maps.features, gradient, total], maps.groups, _BYTES_TOGETHER)
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
    shares = _shares_to_sum([maps.features, gradient, result, other], maps.groups, _BYTES_TOGETHER)
    gradients = gradient, result, rectified, second
    return *_sum_and_finish(maps, shares, gradients, True, counters, None), rectified


def gradient_of_features(maps: Maps, gradient: Tensor, rectified: bool, means: Tensor) -> Tensor:
    """Return the gradient of the features, with what reaches them through the statistics."""
    from trainferry.train.kernels.programs.norm_gradients import gradient_of_features as program

    features = maps.features
    of_features = torch.empty_like(features, memory_format=torch.channels_last)
    table = table_of([features, gradient, of_features], maps.groups)
    shares = share_to_map(table, _BYTES_TOGETHER // features.element_size())
    program[shares.grid](
        *(gradient, features, of_features, maps.statistics, maps.weight, maps.bias, means),
        *_sizes(shares),
        _stride(features, shares),
        _stride(gradient, shares),
        maps.stored,
        maps.epsilon,
        RECTIFIES=rectified,
        **_tile(shares),
    )
    return of_features


def correct(ledger: Ledger, features: Tensor, statistics: Tensor, channels: slice) -> Tensor:
    """Return the whole gradient of some channels of the map, when all layers have added theirs."""
    from trainferry.train.kernels.programs.norm_gradients import correct as program

    gradient, features = ledger.gradient[:, channels], features[:, channels]
    result = torch.empty_like(features, memory_format=torch.channels_last)
    table = table_of([gradient, features, result], folded=False)
    shares = share_to_map(table, _BYTES_TOGETHER // features.element_size())
    columns, rows, _ = shares.grid
    program[columns, rows](
        *(gradient, features, result),
        statistics[0, 0, channels],
        ledger.corrections[0, channels],
        *(table.rows, table.columns // table.unit, shares.rows_each),
        _stride(features, shares),
        statistics.shape[2],
        **{name: value for name, value in _tile(shares).items() if name != "FOLDED"},
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
        *_sizes(shares),
        _middle(features, shares.table),
        *(_stride(features, shares), _stride(other, shares), statistics.shape[2]),
        *((0, 0.0, 0.0) if norm is None else _pace(norm)),
        COPIES=copy is not None,
        FINISHES=norm is not None,
        DEBIASES=norm is not None and norm.debiased is not None,
        **_tile(shares),
    )


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
    parts = _parts(gradient, shares)
    of_norm = parts.new_empty(2, shares.table.channels)
    means = parts.new_empty(2, maps.groups, shares.table.channels)
    last_joins = LAST_JOINS and shares.last_can_join(maps.groups)
    program[shares.grid](
        *(gradient, maps.features, result, only_positive, total),
        *(maps.statistics, maps.weight, maps.bias, parts),
        *(counters[1] if last_joins else parts, of_norm, means),
        means if ledger is None else ledger.corrections,
        *_sizes(shares),
        *(_stride(each, shares) for each in (maps.features, gradient, total)),
        maps.stored,
        maps.epsilon,
        RECTIFIES=rectified,
        FROM_RESULT=result is not gradient,
        TWICE=ledger is None and other is not None,
        BEGINS=ledger is not None and ledger.is_new,
        ADDS_UP=ledger is not None and not ledger.is_new,
        FINISHES=last_joins,
        **_tile(shares),
    )
    if not last_joins:
        _finish_gradients(maps, Parts(parts, shares), of_norm, means, ledger)
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


def _shares_to_sum(maps: list[Tensor], groups: int, bytes_each: int) -> Shares:
    return share_to_sum(table_to_sum(maps, groups), bytes_each // maps[0].element_size())


def _parts(features: Tensor, shares: Shares, more: int = 0) -> Tensor:
    table = shares.table
    shape = 2, table.groups, shares.splits + more, table.columns
    return features.new_empty(shape, dtype=torch.float32)


def _stride(features: Tensor, shares: Shares) -> int:
    table = shares.table
    stride = table.columns if table.fold > 1 else row_stride(features)
    assert stride is not None
    return stride // table.unit


def _middle(features: Tensor, table: Table) -> int:
    """Return the row of a pixel that is like most others: not at an edge, next to padding."""
    height, width = features.shape[2:]
    pictures = table.pixels // (height * width)
    return ((pictures // 2 * height + height // 2) * width + width // 2) // table.fold


def _sizes(shares: Shares) -> tuple[int, int, int, int, int]:
    table = shares.table
    columns, total = table.columns // table.unit, table.total // table.unit
    return table.rows, columns, table.channels, total, shares.rows_each


def _tile(shares: Shares) -> dict[str, int | bool]:
    table = shares.table
    return {
        "FOLDED": table.fold > 1,
        "UNIT": table.unit,
        "ROWS": shares.height,
        "COLUMNS": table.width,
        "STAGES": _STAGES if table.total * table.groups > _FEW else 1,
        **shares.threads,
    }
