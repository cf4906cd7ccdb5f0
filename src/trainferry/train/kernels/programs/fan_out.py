"""The program that adds up gradients of one map; `kernels/fan_out.py` says what for."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def add_maps(
    first,
    second,
    third,
    fourth,
    total,  # out
    size,
    COUNT: tl.constexpr,
    VALUES: tl.constexpr,
):
    at = tl.program_id(0).to(tl.int64) * VALUES + tl.arange(0, VALUES)
    here = at < size
    value = tl.load(first + at, here).to(tl.float32) + tl.load(second + at, here).to(tl.float32)
    if COUNT > 2:
        value += tl.load(third + at, here).to(tl.float32)
    if COUNT > 3:
        value += tl.load(fourth + at, here).to(tl.float32)
    tl.store(total + at, value.to(total.dtype.element_ty), here)
