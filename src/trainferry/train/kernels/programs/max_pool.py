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
        # As in torch, the first of equals wins, and what is no number is larger than all. That it
        # also gets the gradient is left out: nothing can be learnt of such a step.
        winner = tl.where(value > best, number, winner)
        best = tl.maximum(best, value, propagate_nan=tl.PropagateNan.ALL)
    out = window.to(tl.int64)[:, None] * channels + at[None, :]
    both = real[:, None] & inside[None, :]
    tl.store(largest + out, best.to(largest.dtype.element_ty), both)
    tl.store(winners + out, winner.to(tl.uint8), both)


@triton.jit
def pool_backward(
    of_largest,  # B O Q C
    winners,  # B O Q C
    of_images,  # B I J C, out
    cells,  # of all pictures, DOWN x RIGHT pixels each: as many as windows would begin in
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
    """Give the pixels of a cell the gradients that they won; each window is read once for it."""
    cell = tl.program_id(0) * PIXELS + tl.arange(0, PIXELS)
    at = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = at < channels
    across = (columns_in + left + RIGHT - 1) // RIGHT
    down = (rows_in + top + DOWN - 1) // DOWN
    x = cell % across
    y = (cell // across) % down
    picture = (cell // across // down).to(tl.int64)
    # The windows that hold a pixel begin in its cell, or so many cells above or left of it.
    ups: tl.constexpr = (HEIGHT + DOWN - 1) // DOWN
    backs: tl.constexpr = (WIDTH + RIGHT - 1) // RIGHT
    won, wish = (), ()
    for window in tl.static_range(ups * backs):
        row, column = y - window // backs, x - window % backs
        here = (cell < cells) & (row >= 0) & (row < rows_out)
        here = here & (column >= 0) & (column < columns_out)
        start = ((picture * rows_out + row) * columns_out + column) * channels
        both = here[:, None] & inside[None, :]
        won += (tl.load(winners + start[:, None] + at[None, :], both, other=255).to(tl.int32),)
        wish += (tl.load(of_largest + start[:, None] + at[None, :], both, other=0.0),)
    for pixel in tl.static_range(DOWN * RIGHT):
        total = tl.zeros([PIXELS, COLUMNS], tl.float32)
        for window in tl.static_range(ups * backs):
            within_row = pixel // RIGHT + window // backs * DOWN
            within_column = pixel % RIGHT + window % backs * RIGHT
            if (within_row < HEIGHT) & (within_column < WIDTH):
                mine = won[window] == within_row * WIDTH + within_column
                total += tl.where(mine, wish[window].to(tl.float32), 0.0)
        row, column = y * DOWN - top + pixel // RIGHT, x * RIGHT - left + pixel % RIGHT
        here = (cell < cells) & (row >= 0) & (row < rows_in)
        here = here & (column >= 0) & (column < columns_in)
        out = ((picture * rows_in + row) * columns_in + column) * channels
        both = here[:, None] & inside[None, :]
        out = of_images + out[:, None] + at[None, :]
        tl.store(out, total.to(of_images.dtype.element_ty), both)
