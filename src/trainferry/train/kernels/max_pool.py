"""Max pooling of channels-last maps that remembers the winner of a window in one byte.

The same function as torch's `max_pool2d`, padding included, which is the reference. Torch's own
remembers eight bytes per window and reads all of them for every pixel on the way back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from trainferry.train.kernels.rows import columns_of, new_rows

_VALUES = 2048  # of one program


@dataclass(frozen=True)
class Windows:
    """Their size, the distance of neighbours, and how much padding each side of a map has."""

    size: tuple[int, int]
    stride: tuple[int, int]
    top: int = 0
    bottom: int = 0
    left: int = 0
    right: int = 0

    def count(self, height: int, width: int) -> tuple[int, int]:
        """How many windows a map has, downwards and across."""
        down = (height + self.top + self.bottom - self.size[0]) // self.stride[0] + 1
        across = (width + self.left + self.right - self.size[1]) // self.stride[1] + 1
        return down, across

    def count_cells(self, height: int, width: int) -> int:
        """How many cells, as large as the distance of windows, a map has with its padding."""
        down, across = self.stride
        return -(-(height + self.top) // down) * -(-(width + self.left) // across)


class MaxPool(torch.autograd.Function):
    """Takes maps, B C H W in channels-last memory, and the windows."""

    @staticmethod
    def forward(ctx: Any, images: Tensor, windows: Windows) -> Tensor:  # noqa: ANN401 (torch's)
        from trainferry.train.kernels.programs.max_pool import pool_forward

        images = images.contiguous(memory_format=torch.channels_last)
        pictures, channels, *size = images.shape
        rows, columns = windows.count(*size)
        largest = new_rows(images, pictures, channels, rows, columns)
        winners = torch.empty_like(largest, dtype=torch.uint8)
        _run(pool_forward, pictures * rows * columns, (images, largest, winners), windows, size)
        ctx.save_for_backward(winners)
        ctx.windows, ctx.size = windows, size
        return largest

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_largest: Tensor) -> tuple[Tensor, None]:  # noqa: ANN401 (torch's)
        from trainferry.train.kernels.programs.max_pool import pool_backward

        (winners,) = ctx.saved_tensors
        of_largest = of_largest.contiguous(memory_format=torch.channels_last)
        pictures, channels = winners.shape[:2]
        of_images = new_rows(of_largest, pictures, channels, *ctx.size)
        cells = pictures * ctx.windows.count_cells(*ctx.size)
        _run(pool_backward, cells, (of_largest, winners, of_images), ctx.windows, ctx.size)
        return of_images, None


def _run(
    program: Any,  # noqa: ANN401 (Triton gives it no type)
    pixels: int,
    maps: tuple[Tensor, Tensor, Tensor],
    windows: Windows,
    size: list[int],
) -> None:
    channels = maps[0].shape[1]
    columns = columns_of(channels)
    rows = max(1, _VALUES // columns)
    program[-(-pixels // rows), -(-channels // columns)](
        *maps,
        pixels,
        *size,
        *windows.count(*size),
        windows.top,
        windows.left,
        channels,
        HEIGHT=windows.size[0],
        WIDTH=windows.size[1],
        DOWN=windows.stride[0],
        RIGHT=windows.stride[1],
        PIXELS=rows,
        COLUMNS=columns,
    )
