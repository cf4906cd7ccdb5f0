"""The programs of 3 by 3 convolutions with few channels; `kernels/narrow.py` says what they do.

Shapes: B pictures; P pixels of all of them, h w of one, in the map that is read; Q and H W in the
one that is written or, for weights, led by; C channels in, O out. Maps are channels-last.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def load_pixels(features, picture, row, column, there, channel, height, width, channels):
    """Values of all channels at some places, zero outside of the picture."""
    there = there & (row >= 0) & (row < height) & (column >= 0) & (column < width)
    inside = there[:, None] & (channel < channels)[None, :]
    pixel = (picture * height + row) * width + column
    return tl.load(
        features + pixel.to(tl.int64)[:, None] * channels + channel[None, :], inside, other=0.0
    )


@triton.jit(do_not_specialize=["pixels", "height", "width", "read_height", "read_width"])
def convolve(
    features,  # P C
    weight,
    result,  # Q O, out
    pixels,
    height,
    width,
    read_height,
    read_width,
    channels: tl.constexpr,
    outputs: tl.constexpr,
    stride_in: tl.constexpr,  # of the weight, from a channel that is read to the next
    stride_out: tl.constexpr,
    stride_place: tl.constexpr,  # from one of its nine places to the next
    STRIDE: tl.constexpr,
    ABOVE: tl.constexpr,  # pixels of padding
    LEFT: tl.constexpr,
    BACK: tl.constexpr,  # whether a gradient goes back to where it came from
    PIXELS: tl.constexpr,
    CHANNELS: tl.constexpr,
    OUTPUTS: tl.constexpr,
):
    pixel = tl.program_id(0) * PIXELS + tl.arange(0, PIXELS)
    picture = pixel // (height * width)
    row = (pixel // width) % height
    column = pixel % width
    channel = tl.arange(0, CHANNELS)
    output = tl.arange(0, OUTPUTS)
    known = (channel < channels)[:, None] & (output < outputs)[None, :]
    at = channel[:, None] * stride_in + output[None, :] * stride_out
    total = tl.zeros([PIXELS, OUTPUTS], tl.float32)
    for place in tl.static_range(9):
        there = pixel < pixels
        if BACK:
            down = row + (ABOVE - place // 3)
            right = column + (LEFT - place % 3)
            there = there & (down % STRIDE == 0) & (right % STRIDE == 0)
            there = there & (down >= 0) & (right >= 0)
            down = down // STRIDE
            right = right // STRIDE
        else:
            down = row * STRIDE + (place // 3 - ABOVE)
            right = column * STRIDE + (place % 3 - LEFT)
        seen = load_pixels(
            features, picture, down, right, there, channel, read_height, read_width, channels
        )
        factor = tl.load(weight + at + place * stride_place, known, other=0.0)
        total = tl.dot(seen, factor, total, input_precision="ieee")
    inside = (pixel < pixels)[:, None] & (output < outputs)[None, :]
    at = pixel.to(tl.int64)[:, None] * outputs + output[None, :]
    tl.store(result + at, total.to(result.dtype.element_ty), inside)


@triton.jit(
    do_not_specialize=["pixels", "height", "width", "read_height", "read_width", "pixels_each"]
)
def sum_up_weight(
    features,  # P C
    gradient,  # Q O
    parts,  # S 9 O C, out
    pixels,
    height,
    width,
    read_height,
    read_width,
    pixels_each,
    channels: tl.constexpr,
    outputs: tl.constexpr,
    STRIDE: tl.constexpr,
    ABOVE: tl.constexpr,
    LEFT: tl.constexpr,
    PIXELS: tl.constexpr,
    CHANNELS: tl.constexpr,
    OUTPUTS: tl.constexpr,
):
    """The gradient at three of the nine places, of some of the pixels."""
    split = tl.program_id(0)
    line = tl.program_id(1)
    channel = tl.arange(0, CHANNELS)
    output = tl.arange(0, OUTPUTS)
    left = tl.zeros([OUTPUTS, CHANNELS], tl.float32)
    middle = tl.zeros([OUTPUTS, CHANNELS], tl.float32)
    right = tl.zeros([OUTPUTS, CHANNELS], tl.float32)
    first = split * pixels_each
    last = tl.minimum(first + pixels_each, pixels)
    for start in tl.range(first, last, PIXELS):
        pixel = start + tl.arange(0, PIXELS)
        there = pixel < last
        inside = (output < outputs)[:, None] & there[None, :]
        at = pixel.to(tl.int64)[None, :] * outputs + output[:, None]
        slope = tl.load(gradient + at, inside, other=0.0)
        picture = pixel // (height * width)
        row = ((pixel // width) % height) * STRIDE + line - ABOVE
        column = (pixel % width) * STRIDE - LEFT
        seen = load_pixels(
            features, picture, row, column, there, channel, read_height, read_width, channels
        )
        left = tl.dot(slope, seen, left, input_precision="ieee")
        seen = load_pixels(
            features, picture, row, column + 1, there, channel, read_height, read_width, channels
        )
        middle = tl.dot(slope, seen, middle, input_precision="ieee")
        seen = load_pixels(
            features, picture, row, column + 2, there, channel, read_height, read_width, channels
        )
        right = tl.dot(slope, seen, right, input_precision="ieee")
    known = (output < outputs)[:, None] & (channel < channels)[None, :]
    at = (split * 9 + line * 3) * outputs * channels
    out = parts + at + output[:, None] * channels + channel[None, :]
    tl.store(out, left, known)
    tl.store(out + outputs * channels, middle, known)
    tl.store(out + 2 * outputs * channels, right, known)


@triton.jit(do_not_specialize=["splits"])
def join_weight(
    parts,  # S 9 O C
    gradient,  # O 9 C, out
    splits,
    channels: tl.constexpr,
    outputs: tl.constexpr,
    SPLITS: tl.constexpr,
    VALUES: tl.constexpr,
):
    size: tl.constexpr = 9 * outputs * channels
    at = tl.program_id(0) * VALUES + tl.arange(0, VALUES)
    split = tl.arange(0, SPLITS)
    inside = (split < splits)[:, None] & (at < size)[None, :]
    total = tl.sum(tl.load(parts + split[:, None] * size + at[None, :], inside, other=0.0), 0)
    place = at // (outputs * channels)
    output = (at // channels) % outputs
    out = (output * 9 + place) * channels + at % channels
    tl.store(gradient + out, total.to(gradient.dtype.element_ty), at < size)
