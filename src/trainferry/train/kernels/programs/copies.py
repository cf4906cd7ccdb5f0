"""The program of many copies; `kernels/copies.py` says what it does."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def copy_values(
    facts,  # copies 6: source, goal, values, width, width of a row of the source, of the goal
    jobs,  # programs 2: which copy, from which value on
    like_source,
    like_goal,
    VALUES: tl.constexpr,
):
    job = tl.program_id(0)
    fact = facts + 6 * tl.load(jobs + 2 * job)
    value = tl.load(jobs + 2 * job + 1) + tl.arange(0, VALUES)
    source = tl.load(fact).to(tl.pointer_type(like_source.dtype.element_ty))
    goal = tl.load(fact + 1).to(tl.pointer_type(like_goal.dtype.element_ty))
    here = value < tl.load(fact + 2)
    width = tl.load(fact + 3)
    wide_in = tl.load(fact + 4)
    wide_out = tl.load(fact + 5)
    if (wide_in == width) & (wide_out == width):
        number = tl.load(source + value, here)
        tl.store(goal + value, number.to(like_goal.dtype.element_ty), here)
    else:
        row = value // width
        column = value - row * width
        number = tl.load(source + row * wide_in + column, here)
        tl.store(goal + row * wide_out + column, number.to(like_goal.dtype.element_ty), here)
