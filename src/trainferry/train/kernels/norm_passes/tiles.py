"""How the passes share out maps in tiles, and what all programs are told about that."""

from __future__ import annotations

import torch
from torch import Tensor

from trainferry.train.kernels.norm_passes.values import Parts
from trainferry.train.kernels.rows import (
    Shares,
    row_stride,
    share_to_map,
    share_to_sum,
    table_of,
    table_to_sum,
)

BYTES_ALONE = 8192  # of a tile, where a program reads one map
BYTES_TOGETHER = 4096  # and where it reads several
# Tiles that a program has or waits for: two are on their way while it works on one. Programs of a
# map with few values have few tiles, and take longer to begin than they would wait.
_STAGES, _FEW = 3, 2**22


def shares_to_sum(maps: list[Tensor], groups: int, bytes_each: int) -> Shares:
    return share_to_sum(table_to_sum(maps, groups), bytes_each // maps[0].element_size())


def shares_to_map(
    maps: list[Tensor], bytes_each: int, groups: int = 1, *, folded: bool = True
) -> Shares:
    table = table_of(maps, groups, folded=folded)
    return share_to_map(table, bytes_each // maps[0].element_size())


def new_parts(features: Tensor, shares: Shares, more: int = 0) -> Parts:
    """Make room for the sums of each split, and of so many more."""
    table = shares.table
    shape = 2, table.groups, shares.splits + more, table.columns
    return Parts(features.new_empty(shape, dtype=torch.float32), shares)


def stride_of(features: Tensor, shares: Shares) -> int:
    table = shares.table
    stride = table.columns if table.fold > 1 else row_stride(features)
    assert stride is not None
    return stride // table.unit


def sizes_of(shares: Shares) -> tuple[int, int, int, int, int]:
    table = shares.table
    columns, total = table.columns // table.unit, table.total // table.unit
    return table.rows, columns, table.channels, total, shares.rows_each


def tile_of(shares: Shares) -> dict[str, int | bool]:
    table = shares.table
    return {
        "FOLDED": table.fold > 1,
        "UNIT": table.unit,
        "ROWS": shares.height,
        "COLUMNS": table.width,
        "STAGES": _STAGES if table.total * table.groups > _FEW else 1,
        **shares.threads,
    }
