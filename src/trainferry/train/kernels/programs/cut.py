"""The program that cuts parts out of pictures and resizes them; `kernels/cut.py` says how.

A program makes one row of one part: all its columns, one after the other of the pixels that count
in them.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["height", "width"])  # of a 1 it makes a constant, without a format
def cut_rows(
    pixels,
    parts,  # N 8, the fields of a Part
    made,  # N H W 3, out
    height,
    width,
    ANTIALIAS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    number = tl.program_id(0)
    row = tl.program_id(1)
    part = parts + number * 8
    start, tall, wide = tl.load(part), tl.load(part + 1), tl.load(part + 2)
    top, left = tl.load(part + 3), tl.load(part + 4)
    part_height, part_width = tl.load(part + 5), tl.load(part + 6)
    is_mirrored = tl.load(part + 7)

    column = tl.arange(0, COLUMNS)
    here = column < width
    first_x, most_x = _reach(column, part_width, width, ANTIALIAS)
    first_y, most_y = _reach(row, part_height, height, ANTIALIAS)
    red = tl.zeros([COLUMNS], tl.float32)
    green = tl.zeros([COLUMNS], tl.float32)
    blue = tl.zeros([COLUMNS], tl.float32)
    whole_x = tl.zeros([COLUMNS], tl.float32)
    whole_y = tl.zeros([1], tl.float32)
    for step_y in range(most_y):
        y = first_y + step_y
        weight_y = _weight(y, row, part_height, height, ANTIALIAS)
        whole_y += weight_y
        line = pixels + start + (top + _inside(y, part_height)) * wide + left
        for step_x in range(most_x):
            x = first_x + step_x
            weight_x = _weight(x, column, part_width, width, ANTIALIAS)
            whole_x += tl.where(step_y == 0, weight_x, 0.0)
            x = _inside(x, part_width)
            at = line + tl.where(is_mirrored != 0, part_width - 1 - x, x)
            weight = weight_y * weight_x
            red += weight * tl.load(at, here, other=0).to(tl.float32)
            green += weight * tl.load(at + tall * wide, here, other=0).to(tl.float32)
            blue += weight * tl.load(at + 2 * tall * wide, here, other=0).to(tl.float32)
    whole = tl.where(here, whole_x, 1.0) * whole_y
    out = made + ((number.to(tl.int64) * height + row) * width + column) * 3
    tl.store(out, _rounded(tl.div_rn(red, whole)), here)
    tl.store(out + 1, _rounded(tl.div_rn(green, whole)), here)
    tl.store(out + 2, _rounded(tl.div_rn(blue, whole)), here)


@triton.jit
def _reach(place, count, size, ANTIALIAS: tl.constexpr):
    """The first line that may count in a new one, and how many from there on."""
    if ANTIALIAS:
        scale = tl.div_rn(count.to(tl.float32), size.to(tl.float32))
        reach = tl.maximum(scale, 1.0)
        first = tl.floor((place + 0.5) * scale - reach).to(tl.int32)
        return first, tl.ceil(2 * reach).to(tl.int32) + 2
    return (place * count // size).to(tl.int32), 2


@triton.jit
def _weight(line, place, count, size, ANTIALIAS: tl.constexpr):
    """How much a line counts in a new one; lines that are not there count nothing."""
    if ANTIALIAS:
        scale = tl.div_rn(count.to(tl.float32), size.to(tl.float32))
        far = tl.div_rn(tl.abs(line + 0.5 - (place + 0.5) * scale), tl.maximum(scale, 1.0))
        return tl.where((line >= 0) & (line < count), tl.maximum(1.0 - far, 0.0), 0.0)
    share = tl.div_rn((place * count % size).to(tl.float32), size.to(tl.float32))
    return tl.where(line == place * count // size, 1.0 - share, share)


@triton.jit
def _inside(line, count):
    return tl.minimum(tl.maximum(line, 0), count - 1)


@triton.jit
def _rounded(value):
    """To the nearest whole number, halves to even: adding 1.5 * 2^23 leaves no digits behind it."""
    return ((value + 12582912.0) - 12582912.0).to(tl.uint8)
