"""How a map is shared out among programs."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from trainferry.train.kernels.rows import (
    Shares,
    columns_of,
    in_rows,
    row_stride,
    share_to_map,
    share_to_sum,
    table_of,
    table_to_sum,
)

SMALL = [
    (32, 2048, 7, 7),
    (32, 1024, 14, 14),
    (32, 512, 28, 28),
    (32, 256, 14, 14),
    (32, 64, 56, 56),
    (32, 144, 7, 7),
    (32, 72, 14, 14),
    (32, 40, 28, 28),
    (32, 24, 56, 56),
    (32, 32, 7, 7),
]
ALONE, TOGETHER = 4096, 2048  # values of a tile: where one map is read, and where several are


@pytest.mark.parametrize("shape", SMALL, ids=str)
@pytest.mark.parametrize("values", [ALONE, TOGETHER])
def test_the_last_program_can_join_the_sums_of_a_small_map(
    shape: tuple[int, ...], values: int
) -> None:
    shares = share_to_sum(table_to_sum([a_map(*shape)]), values)
    assert shares.last_can_join()
    assert programs(shares) <= 264
    assert shares.splits * shares.rows_each >= shares.table.rows


@pytest.mark.parametrize("shape", SMALL, ids=str)
@pytest.mark.parametrize("values", [ALONE, TOGETHER])
def test_a_small_map_keeps_a_device_busy_or_is_read_at_once(
    shape: tuple[int, ...], values: int
) -> None:
    shares = share_to_sum(table_to_sum([a_map(*shape)]), values)
    assert programs(shares) >= 190 or shares.rows_each == shares.height


@pytest.mark.parametrize("shape", [(32, 256, 56, 56), (256, 512, 28, 28)], ids=str)
def test_a_large_map_is_read_in_wide_tiles(shape: tuple[int, ...]) -> None:
    shares = share_to_sum(table_to_sum([a_map(*shape)]), TOGETHER)
    assert shares.table.width == 256
    assert not shares.last_can_join()


def test_a_folded_channel_has_no_last_program() -> None:
    shares = share_to_sum(table_to_sum([a_map(32, 18, 56, 56)]), TOGETHER)
    assert shares.table.fold > 1
    assert not shares.last_can_join()


def test_groups_are_joined_together() -> None:
    shares = share_to_sum(table_to_sum([a_map(32, 32, 73, 73)], 4), TOGETHER)
    assert shares.last_can_join(4)
    assert not shares.last_can_join(40)


@pytest.mark.parametrize("shape", [(1024, 64, 112, 112), (2048, 64, 75, 300)], ids=str)
def test_no_map_has_more_splits_than_a_device_counts(shape: tuple[int, ...]) -> None:
    large = a_map(*shape)
    for shares in (
        share_to_map(table_of([large]), TOGETHER),
        share_to_sum(table_to_sum([large]), TOGETHER),
    ):
        assert max(shares.grid[1:]) < 2**16
        assert shares.splits * shares.rows_each >= shares.table.rows


def test_pixels_that_lie_unevenly_are_copied() -> None:
    cut = torch.arange(72.0).view(1, 3, 4, 6).permute(0, 3, 1, 2)[:, :, :, :2]
    assert row_stride(cut) is None
    copied = in_rows(cut)
    assert row_stride(copied) == 6
    assert torch.equal(copied, cut)


def a_map(pictures: int, channels: int, height: int, width: int) -> Tensor:
    return torch.empty(
        (pictures, height, width, channels), dtype=torch.bfloat16, device="meta"
    ).permute(0, 3, 1, 2)


def programs(shares: Shares) -> int:
    across, down, groups = shares.grid
    return across * down * groups


@pytest.mark.parametrize(
    ("channels", "columns"),
    [(1, 1), (3, 4), (24, 32), (40, 64), (64, 64), (72, 32), (128, 128), (192, 64), (512, 128)],
)
def test_few_threads_idle_over_pixels(channels: int, columns: int) -> None:
    assert columns_of(channels) == columns
