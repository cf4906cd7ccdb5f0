"""A channels-last map as a table of rows, one per pixel, and how programs share it out."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

_WIDEST_LOAD = 8  # values that a thread loads at once, where they lie so
# How many programs sum up: as many as a large device runs at the same time, in even shares; for
# a map too small to keep it busy, few. Programs that map values are short and may queue.
_SUMMING, _SUMMING_FEW, _MAPPING = 528, 264, 1024
_ENTRIES = 2048  # partial sums of a channel that are still joined fast
_JOINED, _JOINED_VALUES = (64, 256, 1024), 4096  # at a time; few sizes, as each is compiled
_WIDTHS = (256, 128, 64, 32)
_COLUMNS = (128, 64, 32)
_LARGEST_FOLD = 16
_TILES_EACH = 4  # for which a program loads the facts of its channels once
_USED_WELL = 0.8
# A map that a cache holds is summed up in narrow tiles, by programs with twice the threads: as many
# bytes are on their way as with wide tiles, and much less has to be joined for each channel.
_SMALL = 2**24  # values
_NARROW, _NARROW_CHANNELS = (32, 64), 256  # the first up to so many channels
_NARROW_SUMMING, _NARROW_REGISTERS = 256, 128  # programs, and what lets all run at the same time
_PROCESSORS, _LOADED_ONCE = 132, 2048  # tiles get smaller until all work, down to so many values
_JOINED_BY_LAST = 8192  # values that the last program joins sooner than another would start
_INT_LIMIT = 2**31
_MOST_SPLITS = 2**16 - 1  # programs that a device counts in the second direction


@dataclass(frozen=True)
class Table:
    """A map as programs see it: `fold` pixels to a row, `groups` tables one under the other."""

    channels: int
    pixels: int
    groups: int
    fold: int
    unit: int
    width: int
    is_narrow: bool = False

    @property
    def rows(self) -> int:
        return -(-self.pixels // self.fold)

    @property
    def columns(self) -> int:
        return self.channels * self.fold

    @property
    def total(self) -> int:
        return self.pixels * self.channels


@dataclass(frozen=True)
class Shares:
    """Who takes what: `height` rows of a table at a time, `rows_each` in all."""

    table: Table
    height: int
    rows_each: int

    @property
    def splits(self) -> int:
        return -(-self.table.rows // self.rows_each)

    @property
    def entries(self) -> int:
        """Partial sums of each channel."""
        return self.splits * self.table.fold

    @property
    def threads(self) -> dict[str, int]:
        """How the programs are started."""
        if self.table.is_narrow:
            return {"num_warps": 8, "maxnreg": _NARROW_REGISTERS}
        return {"num_warps": 4}

    @property
    def grid(self) -> tuple[int, int, int]:
        return -(-self.table.columns // self.table.width), self.splits, self.table.groups

    def last_can_join(self, tables: int = 1) -> bool:
        """Whether the last program of some columns joins the sums of so many tables fast.

        Only of columns that are channels: a folded channel has columns of several programs.
        """
        joined = tables * self.splits * self.table.width
        return self.table.is_narrow and joined <= _JOINED_BY_LAST

    def joining(self) -> tuple[int, int]:
        """How many partial sums of how many channels one program joins at a time."""
        entries = next(size for size in _JOINED if size >= min(self.entries, _JOINED[-1]))
        return entries, _JOINED_VALUES // entries


def row_stride(features: Tensor) -> int | None:
    """The distance of pixels in memory, if all follow each other evenly, channels together."""
    pictures, channels, height, width = features.shape
    if channels > 1 and features.stride(1) != 1:
        return None
    stride = channels
    inner = 1
    for dimension, size in ((3, width), (2, height), (0, pictures)):
        if size > 1:
            if inner == 1:
                stride = features.stride(dimension)
            elif features.stride(dimension) != inner * stride:
                return None
        inner *= size
    return stride if stride >= channels else None


def in_rows(features: Tensor) -> Tensor:
    """The map itself if its pixels lie evenly, else a channels-last copy."""
    if row_stride(features) is not None:
        return features
    return features.contiguous(memory_format=torch.channels_last)


def new_rows(like: Tensor, *shape: int) -> Tensor:
    """Make a channels-last map, B C H W, of the format and on the device of another."""
    return torch.empty(
        shape, dtype=like.dtype, device=like.device, memory_format=torch.channels_last
    )


def table_of(maps: list[Tensor], groups: int = 1, *, folded: bool = True) -> Table:
    """The table of maps of one shape whose pixels lie evenly; narrow rows may be folded."""
    channels = maps[0].shape[1]
    pixels = maps[0].numel() // channels // groups
    strides = [row_stride(one) or channels for one in maps]
    together = (
        folded and groups == 1 and set(strides) == {channels} and pixels * channels < _INT_LIMIT
    )
    fold, width = _choose_fold(channels) if together else (1, _choose_width(channels))
    whole = [channels * fold, pixels * channels] if fold > 1 else [channels, *strides]
    return Table(channels, pixels, groups, fold, math.gcd(_WIDEST_LOAD, *whole), width)


def table_to_sum(maps: list[Tensor], groups: int = 1) -> Table:
    """The table of maps that are summed up: narrow where they are small, see above."""
    plain = table_of(maps, groups, folded=False)
    if plain.unit < _WIDEST_LOAD or plain.total * groups > _SMALL:
        return table_of(maps, groups)
    width = _NARROW[plain.channels > _NARROW_CHANNELS]
    return replace(plain, width=width, is_narrow=True)


def share_to_sum(table: Table, values: int) -> Shares:
    """Tiles of `values` for programs that sum up: few, as their sums must be joined."""
    if table.is_narrow:
        return _share_narrow(table, 2 * values)
    height, tiles = _tiles(table, values)
    most = min(_SUMMING // _across(table), _ENTRIES // table.fold)
    few = min(tiles, _SUMMING_FEW // _across(table))
    splits = max(1, min(most, max(few, tiles // _TILES_EACH)))
    return Shares(table, height, -(-tiles // splits) * height)


def share_to_map(table: Table, values: int) -> Shares:
    """Tiles of `values` for programs that map every value by itself: several to each."""
    height, tiles = _tiles(table, values)
    splits = max(1, min(tiles, _MAPPING // _across(table)), tiles // _TILES_EACH)
    splits = min(splits, _MOST_SPLITS)
    return Shares(table, height, -(-tiles // splits) * height)


def power_of_two(number: int) -> int:
    """The smallest that is not below the number."""
    return 1 << (number - 1).bit_length()


def columns_of(channels: int) -> int:
    """How many channels a program takes that goes over pixels: so many that few threads idle."""
    if channels <= _COLUMNS[-1]:
        return power_of_two(channels)
    return max(_COLUMNS, key=lambda width: _used(channels, width))


def _share_narrow(table: Table, values: int) -> Shares:
    height, tiles = _tiles(table, values)
    if tiles * _across(table) < _PROCESSORS and values > _LOADED_ONCE:
        return _share_narrow(table, values // 2)
    most = min(_NARROW_SUMMING // _across(table), _JOINED_BY_LAST // table.groups // table.width)
    splits = max(1, min(tiles, most))
    return Shares(table, height, -(-tiles // splits) * height)


def _tiles(table: Table, values: int) -> tuple[int, int]:
    """The height of a tile and how many stand on each other."""
    height = min(max(1, values // table.width), power_of_two(table.rows))
    return height, -(-table.rows // height)


def _across(table: Table) -> int:
    return -(-table.columns // table.width) * table.groups


def _choose_fold(channels: int) -> tuple[int, int]:
    """Fold narrow rows so that loads are wide and few threads of a program idle."""
    best = 0.0, 1, _choose_width(channels)
    for fold in range(1, _LARGEST_FOLD + 1):
        columns = fold * channels
        if fold > 1 and columns > _WIDTHS[0]:
            break
        width = _choose_width(columns)
        used = _used(columns, width) * math.gcd(_WIDEST_LOAD, columns) / _WIDEST_LOAD
        if used >= _USED_WELL:
            return fold, width
        best = max(best, (used, fold, width), key=lambda each: each[0])
    return best[1:]


def _choose_width(columns: int) -> int:
    """The widest tile that is used well; narrow ones only where they fit exactly."""
    fitting = [width for width in _WIDTHS if width > 32 or columns % 32 == 0]
    good = [width for width in fitting if _used(columns, width) >= _USED_WELL]
    if good:
        return good[0]
    return max(fitting, key=lambda width: _used(columns, width))


def _used(columns: int, width: int) -> float:
    return columns / (-(-columns // width) * width)
