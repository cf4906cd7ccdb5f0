"""The program of many copies; `kernels/copies.py` says what it does."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def copy_values(
    facts,  # copies 6: source, goal, values, width, width of a row of the source, of the goal
    jobs,  # programs 2: which copy, and which part of its values
    like_source,
    like_goal,
    factors,  # copies, where SCALES
    SCALES: tl.constexpr,
    ALIGNED: tl.constexpr,  # whether all begin where a thread may load several values at once
    VALUES: tl.constexpr,
):
    job = tl.program_id(0)
    copy = tl.load(jobs + 2 * job)
    fact = facts + 6 * copy
    factor = 1.0  # which multiplies nothing
    if SCALES:
        factor = tl.load(factors + copy).to(tl.float32)
    part = tl.load(jobs + 2 * job + 1)
    value = part * VALUES + tl.arange(0, VALUES)
    source = tl.load(fact).to(tl.pointer_type(like_source.dtype.element_ty))
    goal = tl.load(fact + 1).to(tl.pointer_type(like_goal.dtype.element_ty))
    if ALIGNED:
        source, goal = tl.multiple_of(source, 16), tl.multiple_of(goal, 16)
    size = tl.load(fact + 2)
    width = tl.load(fact + 3)
    wide_in = tl.load(fact + 4)
    wide_out = tl.load(fact + 5)
    if (wide_in != width) | (wide_out != width):
        here = value < size
        row = value // width
        column = value - row * width
        number = tl.load(source + row * wide_in + column, here) * factor
        tl.store(goal + row * wide_out + column, number.to(like_goal.dtype.element_ty), here)
    elif (part + 1) * VALUES <= size:  # without a mask, several values are loaded at once
        number = tl.load(source + value) * factor
        tl.store(goal + value, number.to(like_goal.dtype.element_ty))
    else:
        here = value < size
        number = tl.load(source + value, here) * factor
        tl.store(goal + value, number.to(like_goal.dtype.element_ty), here)
