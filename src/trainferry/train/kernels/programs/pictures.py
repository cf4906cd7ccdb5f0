"""The program that makes inputs of pictures; `kernels/pictures.py` says what it computes.

A program takes `VALUES` values of one row of a picture, or of the views that stand in it.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def normalise_row(
    values,  # B*V C H W, in any order of memory
    mean,  # C
    deviation,  # C
    result,  # B H V*W C, out
    height,
    width,
    stride_picture,
    stride_channel,
    stride_row,
    stride_column,
    VIEWS: tl.constexpr,
    CHANNELS: tl.constexpr,
    DIVIDES: tl.constexpr,
    VALUES: tl.constexpr,
):
    row = tl.program_id(0)
    at = tl.program_id(1) * VALUES + tl.arange(0, VALUES)
    here = at < VIEWS * width * CHANNELS
    channel = at % CHANNELS
    column = at // CHANNELS
    picture = (row // height).to(tl.int64) * VIEWS
    start = values + picture * stride_picture + row % height * stride_row
    if VIEWS > 1:
        view = column // width
        start += view * stride_picture
        column -= view * width
    value = tl.load(start + channel * stride_channel + column * stride_column, here, other=0)
    value = value.to(tl.float32) - tl.load(mean + channel)
    if DIVIDES:
        value = tl.div_rn(value, tl.load(deviation + channel))
    tl.store(result + row.to(tl.int64) * VIEWS * width * CHANNELS + at, value, here)
