"""The programs of max pooling over channels-last maps; `kernels/max_pool.py` says what they do.

Shapes: B pictures, I x J pixels in, O x Q windows out, C channels. A program takes `PIXELS` of all
pictures, `COLUMNS` channels each.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def pool_forward(
    images,  # B I J C
    largest,  # B O Q C, out
    winners,  # B O Q C, out: which pixel of the window it was
    windows,  # B * O * Q
    rows_in,
    columns_in,
    rows_out,
    columns_out,
    top,
    left,
    channels: tl.constexpr,
    HEIGHT: tl.constexpr,
    WIDTH: tl.constexpr,
    DOWN: tl.constexpr,
    RIGHT: tl.constexpr,
    PIXELS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    window = tl.program_id(0) * PIXELS + tl.arange(0, PIXELS)
    real = window < windows
    at = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = at < channels
    column = window % columns_out
    row = (window // columns_out) % rows_out
    picture = (window // columns_out // rows_out).to(tl.int64)
    best = tl.full([PIXELS, COLUMNS], float("-inf"), tl.float32)
    winner = tl.zeros([PIXELS, COLUMNS], tl.int32)
    for number in tl.static_range(HEIGHT * WIDTH):
        y = row * DOWN - top + number // WIDTH
        x = column * RIGHT - left + number % WIDTH
        here = real & (y >= 0) & (y < rows_in) & (x >= 0) & (x < columns_in)
        start = ((picture * rows_in + y) * columns_in + x) * channels
        value = tl.load(
            images + start[:, None] + at[None, :],
            here[:, None] & inside[None, :],
            other=float("-inf"),
        ).to(tl.float32)
        # As in torch, the first of equals wins, and what is no number wins over all.
        better = (value > best) | (value != value)
        best = tl.where(better, value, best)
        winner = tl.where(better, number, winner)
    out = window.to(tl.int64)[:, None] * channels + at[None, :]
    both = real[:, None] & inside[None, :]
    tl.store(largest + out, best.to(largest.dtype.element_ty), both)
    tl.store(winners + out, winner.to(tl.uint8), both)


@triton.jit
def pool_backward(
    of_largest,  # B O Q C
    winners,  # B O Q C
    of_images,  # B I J C, out
    pixels,  # B * I * J
    rows_in,
    columns_in,
    rows_out,
    columns_out,
    top,
    left,
    channels: tl.constexpr,
    HEIGHT: tl.constexpr,
    WIDTH: tl.constexpr,
    DOWN: tl.constexpr,
    RIGHT: tl.constexpr,
    PIXELS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    pixel = tl.program_id(0) * PIXELS + tl.arange(0, PIXELS)
    real = pixel < pixels
    at = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = at < channels
    x = pixel % columns_in + left
    y = (pixel // columns_in) % rows_in + top
    picture = (pixel // columns_in // rows_in).to(tl.int64)
    total = tl.zeros([PIXELS, COLUMNS], tl.float32)
    # The windows that hold a pixel begin at most HEIGHT - 1 above it and WIDTH - 1 left of it.
    for up in tl.static_range((HEIGHT + DOWN - 1) // DOWN):
        for back in tl.static_range((WIDTH + RIGHT - 1) // RIGHT):
            row = y // DOWN - up
            column = x // RIGHT - back
            within_row = y - row * DOWN
            within_column = x - column * RIGHT
            here = (row >= 0) & (row < rows_out) & (column >= 0) & (column < columns_out)
            here = real & here & (within_row < HEIGHT) & (within_column < WIDTH)
            start = ((picture * rows_out + row) * columns_out + column) * channels
            both = here[:, None] & inside[None, :]
            won = tl.load(winners + start[:, None] + at[None, :], both, other=255).to(tl.int32)
            wish = tl.load(of_largest + start[:, None] + at[None, :], both, other=0.0)
            mine = won == (within_row * WIDTH + within_column)[:, None]
            total += tl.where(mine & both, wish.to(tl.float32), 0.0)
    out = pixel.to(tl.int64)[:, None] * channels + at[None, :]
    tl.store(of_images + out, total.to(of_images.dtype.element_ty), real[:, None] & inside[None, :])
