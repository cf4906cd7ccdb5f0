"""The programs that change the colours of views; `kernels/colour.py` says what they compute.

Shapes: N views, 3 channels, P pixels of each. A program takes `PIXELS` of one view; its number
along the second axis is called a part.
"""

from __future__ import annotations

import triton
import triton.language as tl

# The numbers of the changes, as in `kernels/colour.py`; 2 is the hue.
BRIGHTNESS = tl.constexpr(0)
SATURATION = tl.constexpr(1)
CONTRAST = tl.constexpr(3)


@triton.jit
def sum_before_contrast(
    views,
    changes,  # N 2 4: the numbers of the changes in their order, and how much each changes
    sums,  # N 3 parts, out
    pixels,
    width,
    view_stride,
    channel_stride,
    row_stride,
    column_stride,
    parts,
    PIXELS: tl.constexpr,
):
    view, part = tl.program_id(0), tl.program_id(1)
    pixel = part * PIXELS + tl.arange(0, PIXELS)
    here = pixel < pixels
    at = views + view.to(tl.int64) * view_stride
    at += pixel // width * row_stride + pixel % width * column_stride
    red, green, blue = _load_pixels(at, channel_stride, here)
    own = changes + view * 8
    moment = _moment_of_contrast(own)
    for place in tl.static_range(3):
        if place < moment:
            kind, amount = tl.load(own + place), tl.load(own + 4 + place)
            red, green, blue = _change(red, green, blue, kind, amount)
    out = sums + view * 3 * parts + part
    tl.store(out, tl.sum(tl.where(here, red, 0.0), 0))
    tl.store(out + parts, tl.sum(tl.where(here, green, 0.0), 0))
    tl.store(out + 2 * parts, tl.sum(tl.where(here, blue, 0.0), 0))


@triton.jit
def change_colours(
    views,
    changes,
    sums,
    changed,  # N 3 P, out
    pixels,
    width,
    view_stride,
    channel_stride,
    row_stride,
    column_stride,
    parts,
    PIXELS: tl.constexpr,
    PARTS: tl.constexpr,
):
    view, part = tl.program_id(0), tl.program_id(1)
    pixel = part * PIXELS + tl.arange(0, PIXELS)
    here = pixel < pixels
    at = views + view.to(tl.int64) * view_stride
    at += pixel // width * row_stride + pixel % width * column_stride
    red, green, blue = _load_pixels(at, channel_stride, here)
    own = changes + view * 8
    own_sums = sums + view * 3 * parts
    red_mean = _mean(own_sums, parts, pixels, PARTS)
    green_mean = _mean(own_sums + parts, parts, pixels, PARTS)
    blue_mean = _mean(own_sums + 2 * parts, parts, pixels, PARTS)
    for place in tl.static_range(4):
        kind, amount = tl.load(own + place), tl.load(own + 4 + place)
        if kind == CONTRAST:
            red = red_mean + (red - red_mean) * amount
            green = green_mean + (green - green_mean) * amount
            blue = blue_mean + (blue - blue_mean) * amount
        else:
            red, green, blue = _change(red, green, blue, kind, amount)
    out = changed + view.to(tl.int64) * 3 * pixels + pixel
    tl.store(out, _between(red, 0.0, 255.0), here)
    tl.store(out + pixels, _between(green, 0.0, 255.0), here)
    tl.store(out + 2 * pixels, _between(blue, 0.0, 255.0), here)


@triton.jit
def _load_pixels(at, channel_stride, here):
    red = tl.load(at, here, other=0.0).to(tl.float32)
    green = tl.load(at + channel_stride, here, other=0.0).to(tl.float32)
    blue = tl.load(at + 2 * channel_stride, here, other=0.0).to(tl.float32)
    return red, green, blue


@triton.jit
def _moment_of_contrast(own):
    place = tl.arange(0, 4)
    return tl.sum(tl.where(tl.load(own + place) == CONTRAST, place, 0), 0)


@triton.jit
def _change(red, green, blue, kind, amount):
    if kind == BRIGHTNESS:
        red, green, blue = red + amount, green + amount, blue + amount
    elif kind == SATURATION:
        red, green, blue = _saturated(red, green, blue, amount)
    else:
        red, green, blue = _turned(red, green, blue, amount)
    return red, green, blue


@triton.jit
def _saturated(red, green, blue, saturation):
    highest = tl.maximum(tl.maximum(red, green), blue)
    reach = highest - tl.minimum(tl.minimum(red, green), blue)
    most = tl.maximum(highest, 0.0) / tl.maximum(reach, 1e-6)
    factor = tl.minimum(most, saturation)
    return (
        highest - (highest - red) * factor,
        highest - (highest - green) * factor,
        highest - (highest - blue) * factor,
    )


@triton.jit
def _turned(red, green, blue, hue):
    highest = tl.maximum(tl.maximum(red, green), blue)
    reach = highest - tl.minimum(tl.minimum(red, green), blue)
    after_green = tl.where(green == highest, blue - red, red - green)
    difference = tl.where(red == highest, green - blue, after_green)
    start = tl.where(red == highest, 0.0, tl.where(green == highest, 2.0, 4.0))
    sixths = difference / tl.maximum(reach, 1e-6) + start + 6.0 * hue
    return (
        highest - reach * _distance(sixths + 5.0),
        highest - reach * _distance(sixths + 3.0),
        highest - reach * _distance(sixths + 1.0),
    )


@triton.jit
def _distance(sixths):
    """How far below the highest a channel is, in parts of the reach."""
    turned = sixths - 6.0 * tl.floor(sixths / 6.0)
    return _between(tl.minimum(turned, 4.0 - turned), 0.0, 1.0)


@triton.jit
def _mean(sums, parts, pixels, PARTS: tl.constexpr):
    part = tl.arange(0, PARTS)
    return tl.sum(tl.load(sums + part, part < parts, other=0.0), 0) / pixels


@triton.jit
def _between(values, low, high):
    return tl.minimum(tl.maximum(values, low), high)
