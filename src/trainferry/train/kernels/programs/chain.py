"""What programs do that follow each other closely: start early, fetch, and then wait."""

from __future__ import annotations

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait


@triton.jit
def wait_for_kernel_before(CHAINED: tl.constexpr):
    """Nothing of the kernel before may be read, and nothing be written, above this line.

    A chained kernel is started when the programs of the one before have started, so that what it
    does above, and all that starting costs, happens in the shadow of that one.
    """
    if CHAINED:
        gdc_launch_dependents()
        gdc_wait()


@triton.jit
def fetch_rows(table, first, rows, width: tl.constexpr):
    """Ask for rows of a contiguous table, of a multiple of 16 bytes each, by one thread."""
    size: tl.constexpr = width * table.dtype.element_ty.primitive_bitwidth // 8
    tl.inline_asm_elementwise(
        """{
        .reg .pred %is_first;
        .reg .u32 %thread;
        mov.u32 %thread, %tid.x;
        setp.eq.u32 %is_first, %thread, 0;
        @%is_first cp.async.bulk.prefetch.L2.global [$1], $2;
        mov.u32 $0, 0;
        }""",
        "=r,l,r",
        [(table + first * width).to(tl.int64), rows * size],
        dtype=tl.int32,
        is_pure=False,
        pack=1,
    )
