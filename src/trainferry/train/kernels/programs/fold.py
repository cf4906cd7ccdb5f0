"""The program that folds pictures two by two; `kernels/fold.py` says what for."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def fold_pictures(
    images,  # B C H W, in any order of memory
    folded,  # B h w 16, out
    pixels,  # B * h * w
    rows,  # h
    columns,  # w
    height,
    width,
    above,  # folded rows and columns of zeros before the picture
    before,
    stride_picture,
    stride_colour,
    stride_row,
    stride_column,
    COLOURS: tl.constexpr,
    CHANNELS: tl.constexpr,
    PIXELS: tl.constexpr,
):
    pixel = tl.program_id(0) * PIXELS + tl.arange(0, PIXELS)
    channel = tl.arange(0, CHANNELS)
    colour = channel % COLOURS
    place = channel // COLOURS
    y = 2 * ((pixel // columns) % rows - above)[:, None] + (place // 2)[None, :]
    x = 2 * (pixel % columns - before)[:, None] + (place % 2)[None, :]
    picture = (pixel // columns // rows).to(tl.int64)
    here = (pixel < pixels)[:, None] & (place < 4)[None, :]
    inside = here & (y >= 0) & (y < height) & (x >= 0) & (x < width)
    start = picture[:, None] * stride_picture + colour[None, :] * stride_colour
    value = tl.load(images + start + y * stride_row + x * stride_column, inside, other=0.0)
    out = folded + pixel.to(tl.int64)[:, None] * CHANNELS + channel[None, :]
    tl.store(out, value.to(folded.dtype.element_ty), (pixel < pixels)[:, None])
