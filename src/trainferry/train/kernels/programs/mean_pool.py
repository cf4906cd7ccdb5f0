"""The program that averages neighbours; `kernels/mean_pool.py` says what for.

Shapes: B pictures, H W pixels, C channels. A program takes `PIXELS` of all pictures, `COLUMNS`
channels each.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def average_neighbours(
    features,  # B H W C
    result,  # B H W C, out
    pixels,  # B * H * W
    height,
    width,
    channels: tl.constexpr,
    BACK: tl.constexpr,  # whether a gradient goes back to those that were averaged
    PIXELS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    pixel = tl.program_id(0) * PIXELS + tl.arange(0, PIXELS)
    at = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = at < channels
    row = (pixel // width) % height
    column = pixel % width
    total = tl.zeros([PIXELS, COLUMNS], tl.float32)
    for place in tl.static_range(9):
        y, x = row + (place // 3 - 1), column + (place % 3 - 1)
        here = (pixel < pixels) & (y >= 0) & (y < height) & (x >= 0) & (x < width)
        start = (pixel + (place // 3 - 1) * width + (place % 3 - 1)).to(tl.int64) * channels
        value = tl.load(
            features + start[:, None] + at[None, :], here[:, None] & inside[None, :], other=0.0
        ).to(tl.float32)
        if BACK:
            value *= _share(y, x, height, width)[:, None]
        total += value
    if not BACK:
        total *= _share(row, column, height, width)[:, None]
    out = result + pixel.to(tl.int64)[:, None] * channels + at[None, :]
    both = (pixel < pixels)[:, None] & inside[None, :]
    tl.store(out, total.to(result.dtype.element_ty), both)


@triton.jit
def _share(y, x, height, width):
    """One over the number of pixels around a place, itself among them."""
    return 1.0 / (_along(y, height) * _along(x, width)).to(tl.float32)


@triton.jit
def _along(at, size):
    return 3 - (at == 0).to(tl.int32) - (at == size - 1).to(tl.int32)
