"""The program that adds noise to pictures; `kernels/noise.py` says what it computes.

Shapes: N pictures of P values each. A program takes `VALUES` of one picture.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def add_noise(
    pictures,
    noise,  # N P, and out
    amounts,  # N
    values,
    VALUES: tl.constexpr,
):
    picture = tl.program_id(0)
    at = tl.program_id(1) * VALUES + tl.arange(0, VALUES)
    here = at < values
    at = picture.to(tl.int64) * values + at
    value = tl.load(pictures + at, here, other=0.0)
    value += tl.load(noise + at, here, other=0.0) * tl.load(amounts + picture)
    tl.store(noise + at, tl.minimum(tl.maximum(value, 0.0), 255.0), here)
