"""The programs that spread a small map over a large one; `kernels/spread.py` says what they do.

A program takes `PIXELS` of all pictures, `COLUMNS` channels each: forwards of the large map,
backwards of the small one.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def spread_forward(
    large,  # B H W C
    small,  # B h w C
    result,  # B H W C, out
    pixels,  # B * H * W
    height,
    width,
    rows,  # h
    columns,  # w
    factor,
    scale,
    channels: tl.constexpr,
    ADDS: tl.constexpr,
    RECTIFIES: tl.constexpr,
    PIXELS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    pixel = tl.program_id(0) * PIXELS + tl.arange(0, PIXELS)
    at = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    both = (pixel < pixels)[:, None] & (at < channels)[None, :]
    x = pixel % width
    y = (pixel // width) % height
    row = y // factor
    column = x // factor
    covered = both & ((row < rows) & (column < columns))[:, None]
    square = (pixel // width // height * rows + row) * columns + column
    start = pixel.to(tl.int64)[:, None] * channels + at[None, :]
    start_small = square.to(tl.int64)[:, None] * channels + at[None, :]
    total = tl.load(small + start_small, covered, other=0.0).to(tl.float32) * scale
    if ADDS:
        total += tl.load(large + start, both, other=0.0).to(tl.float32)
    if RECTIFIES:
        total = tl.where(total > 0, total, total * 0.0)  # keeps what is no number
    tl.store(result + start, total.to(result.dtype.element_ty), both)


@triton.jit
def spread_backward(
    gradient,  # B H W C
    result,  # B H W C
    of_large,  # B H W C, out where it rectifies
    of_small,  # B h w C, out
    pixels,  # B * h * w
    height,
    width,
    rows,  # h
    columns,  # w
    scale,
    channels: tl.constexpr,
    RECTIFIES: tl.constexpr,
    FACTOR: tl.constexpr,
    PIXELS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    pixel = tl.program_id(0) * PIXELS + tl.arange(0, PIXELS)
    at = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    both = (pixel < pixels)[:, None] & (at < channels)[None, :]
    x = pixel % columns
    y = (pixel // columns) % rows
    picture = (pixel // columns // rows).to(tl.int64)
    corner = (picture * height + y * FACTOR) * width + x * FACTOR
    total = tl.zeros([PIXELS, COLUMNS], tl.float32)
    for row in range(FACTOR):
        for column in tl.static_range(FACTOR):
            start = (corner + row * width + column)[:, None] * channels + at[None, :]
            wish = tl.load(gradient + start, both, other=0.0).to(tl.float32)
            if RECTIFIES:
                let_through = tl.load(result + start, both, other=0.0) > 0
                wish = tl.where(let_through, wish, 0.0)
                tl.store(of_large + start, wish.to(of_large.dtype.element_ty), both)
            total += wish
    start_small = pixel.to(tl.int64)[:, None] * channels + at[None, :]
    tl.store(of_small + start_small, (total * scale).to(of_small.dtype.element_ty), both)
