"""The program that moves the pixels of views; `kernels/move.py` says what it computes.

Shapes: N views of C planes, H W pixels each. A program takes `PIXELS` of one view.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def move_pixels(
    views,
    maps,  # N 3 3
    moved,  # N C H W, out
    height,
    width,
    view_stride,
    channel_stride,
    row_stride,
    column_stride,
    CHANNELS: tl.constexpr,
    PIXELS: tl.constexpr,
):
    view = tl.program_id(0)
    pixel = tl.program_id(1) * PIXELS + tl.arange(0, PIXELS)
    here = pixel < height * width
    x = ((pixel % width).to(tl.float32) + 0.5) * (2.0 / width) - 1.0
    y = ((pixel // width).to(tl.float32) + 0.5) * (2.0 / height) - 1.0
    own = maps + view * 9
    depth = _row_of_map(own + 6, x, y)
    left, right, across = _neighbours(_row_of_map(own, x, y) / depth, width)
    top, bottom, down = _neighbours(_row_of_map(own + 3, x, y) / depth, height)
    left, right = left * column_stride, right * column_stride
    top, bottom = top * row_stride, bottom * row_stride
    start = views + view.to(tl.int64) * view_stride
    out = moved + view.to(tl.int64) * CHANNELS * height * width + pixel
    for channel in tl.static_range(CHANNELS):
        plane = start + channel * channel_stride
        above = tl.load(plane + top + left, here, other=0).to(tl.float32) * (1.0 - across)
        above += tl.load(plane + top + right, here, other=0).to(tl.float32) * across
        below = tl.load(plane + bottom + left, here, other=0).to(tl.float32) * (1.0 - across)
        below += tl.load(plane + bottom + right, here, other=0).to(tl.float32) * across
        value = above * (1.0 - down) + below * down
        tl.store(out + channel * height * width, value, here)


@triton.jit
def _row_of_map(row, x, y):
    return tl.load(row) * x + tl.load(row + 1) * y + tl.load(row + 2)


@triton.jit
def _neighbours(place, size):
    """The pixels on both sides of a place from -1 to 1, and its way from the first to the other."""
    at = ((place + 1.0) * size - 1.0) * 0.5
    at = tl.minimum(tl.maximum(at, 0.0), size - 1.0)
    first = at.to(tl.int32)
    return first, tl.minimum(first + 1, size - 1), at - first.to(tl.float32)
