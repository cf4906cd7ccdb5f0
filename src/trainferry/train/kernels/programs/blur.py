"""The program that blurs pictures; `kernels/blur.py` says what it computes.

Shapes: N pictures of C planes, H W pixels each, T = 2 * `RADIUS` + 1. A program takes `PIXELS` of
one plane.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def blur_planes(
    pictures,
    blurs,  # N 2: the number of the kind, and how much of it
    tall,  # kinds H T: the weights of the rows around each row
    wide,  # kinds W T: the weights of the columns around each column
    blurred,  # N C H W, out
    channels,
    height,
    width,
    picture_stride,
    channel_stride,
    row_stride,
    column_stride,
    picture_stride_out,
    channel_stride_out,
    row_stride_out,
    column_stride_out,
    KINDS: tl.constexpr,
    RADIUS: tl.constexpr,
    PIXELS: tl.constexpr,
):
    plane = tl.program_id(0)
    picture = plane // channels
    pixel = tl.program_id(1) * PIXELS + tl.arange(0, PIXELS)
    here = pixel < height * width
    y, x = pixel // width, pixel % width
    start = pictures + picture.to(tl.int64) * picture_stride + plane % channels * channel_stride
    value = tl.load(start + y * row_stride + x * column_stride, here, other=0.0).to(tl.float32)
    kind = tl.load(blurs + picture * 2).to(tl.int32)
    much = tl.load(blurs + picture * 2 + 1)
    if kind < KINDS:
        total = tl.zeros([PIXELS], tl.float32)
        of_row = tall + (kind * height + y) * (2 * RADIUS + 1)
        of_column = wide + (kind * width + x) * (2 * RADIUS + 1)
        for down in tl.static_range(2 * RADIUS + 1):
            row = y + down - RADIUS
            real = here & (row >= 0) & (row < height)
            across_row = tl.zeros([PIXELS], tl.float32)
            for across in tl.static_range(2 * RADIUS + 1):
                column = x + across - RADIUS
                both = real & (column >= 0) & (column < width)
                near = tl.load(start + row * row_stride + column * column_stride, both, other=0.0)
                across_row += near.to(tl.float32) * tl.load(of_column + across, here, other=0.0)
            total += across_row * tl.load(of_row + down, here, other=0.0)
        value += (total - value) * much
    value = tl.minimum(tl.maximum(value, 0.0), 255.0)
    out = blurred + picture.to(tl.int64) * picture_stride_out
    out += plane % channels * channel_stride_out
    tl.store(out + y * row_stride_out + x * column_stride_out, value, here)
