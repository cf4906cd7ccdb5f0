"""The products of the attention decoder's steps, and its cell; shapes as in `attention.py`.

A program takes `TILE` samples and some columns of the result, and multiplies `DEPTH` values of a
row at a time. Every matrix lies as J K: each column of a result reads one row of it. Tensors are
contiguous but for what carries a stride.
"""

from __future__ import annotations

import triton
import triton.language as tl

from trainferry.train.kernels.programs.chain import fetch_rows, wait_for_kernel_before


@triton.jit
def tanh(x):
    return 2.0 * tl.sigmoid(2.0 * x) - 1.0


@triton.jit
def _load_left(values, row, at, samples, width):
    """Rows of the samples, TILE DEPTH."""
    inside = (row < samples)[:, None] & (at < width)[None, :]
    return tl.load(values + row[:, None] * width + at[None, :], inside, other=0.0)


@triton.jit
def _load_matrix(matrix, column, at, columns, width):
    """Rows of the matrix, turned: DEPTH by columns."""
    inside = (column < columns)[None, :] & (at < width)[:, None]
    return tl.load(matrix + column[None, :] * width + at[:, None], inside, other=0.0)


@triton.jit
def _fetch_columns(matrix, first, columns, width: tl.constexpr, UNITS: tl.constexpr):
    fetch_rows(matrix, first, tl.minimum(UNITS, columns - first), width)


@triton.jit
def _clip(x, clip):
    return tl.minimum(tl.maximum(x, -clip), clip)


@triton.jit
def add_product(
    left,  # B K
    matrix,  # J K
    base,  # B J, or J where its stride is 0
    result,  # B J, out; may be the base
    samples,
    base_stride,
    columns: tl.constexpr,
    width: tl.constexpr,
    TILE: tl.constexpr,
    UNITS: tl.constexpr,
    DEPTH: tl.constexpr,
    STAGES: tl.constexpr,
    CHAINED: tl.constexpr,
    FETCHES: tl.constexpr,
):
    row = tl.program_id(0) * TILE + tl.arange(0, TILE)
    column = tl.program_id(1) * UNITS + tl.arange(0, UNITS)
    if FETCHES:
        _fetch_columns(matrix, tl.program_id(1) * UNITS, columns, width, UNITS)
    wait_for_kernel_before(CHAINED)
    total = tl.zeros([TILE, UNITS], tl.float32)
    for first in tl.range(0, width, DEPTH, num_stages=STAGES):
        at = first + tl.arange(0, DEPTH)
        total = tl.dot(
            _load_left(left, row, at, samples, width),
            _load_matrix(matrix, column, at, columns, width),
            total,
            input_precision="ieee",
        )
    inside = (row < samples)[:, None] & (column < columns)[None, :]
    total += tl.load(base + row[:, None] * base_stride + column[None, :], inside).to(tl.float32)
    out = result + row[:, None] * columns + column[None, :]
    tl.store(out, total.to(result.dtype.element_ty), inside)


@triton.jit
def cell_forward(
    known,  # B 4H: gates without what the step before says
    before,  # B S: the state of the step before
    recurrent,  # 4H S
    kept_before,  # B H, as carried on by the step before, not clipped
    opened,  # B 4H, out: the gates after their functions
    carried,  # B H, out
    asked,  # B 2H, out: cell and hidden values
    state,  # B S, out: its first H values
    known_stride,
    clip,
    samples,
    hidden: tl.constexpr,
    width: tl.constexpr,
    FIRST: tl.constexpr,
    TILE: tl.constexpr,
    UNITS: tl.constexpr,
    DEPTH: tl.constexpr,
    STAGES: tl.constexpr,
    CHAINED: tl.constexpr,
    FETCHES: tl.constexpr,
):
    row = tl.program_id(0) * TILE + tl.arange(0, TILE)
    unit = tl.program_id(1) * UNITS + tl.arange(0, UNITS)
    if FETCHES:
        for gate in tl.static_range(4):
            matrix = recurrent + gate * hidden * width
            _fetch_columns(matrix, tl.program_id(1) * UNITS, hidden, width, UNITS)
    wait_for_kernel_before(CHAINED)
    inside = (row < samples)[:, None] & (unit < hidden)[None, :]
    i = tl.zeros([TILE, UNITS], tl.float32)
    f = tl.zeros([TILE, UNITS], tl.float32)
    g = tl.zeros([TILE, UNITS], tl.float32)
    o = tl.zeros([TILE, UNITS], tl.float32)
    kept = tl.zeros([TILE, UNITS], tl.float32)
    at_unit = row[:, None] * hidden + unit[None, :]
    if not FIRST:
        for first in tl.range(0, width, DEPTH, num_stages=STAGES):
            at = first + tl.arange(0, DEPTH)
            said = _load_left(before, row, at, samples, width)
            for_i = _load_matrix(recurrent, unit, at, hidden, width)
            for_f = _load_matrix(recurrent + hidden * width, unit, at, hidden, width)
            for_g = _load_matrix(recurrent + 2 * hidden * width, unit, at, hidden, width)
            for_o = _load_matrix(recurrent + 3 * hidden * width, unit, at, hidden, width)
            i = tl.dot(said, for_i, i, input_precision="ieee")
            f = tl.dot(said, for_f, f, input_precision="ieee")
            g = tl.dot(said, for_g, g, input_precision="ieee")
            o = tl.dot(said, for_o, o, input_precision="ieee")
        kept = _clip(tl.load(kept_before + at_unit, inside, other=0.0), clip)
    gate = known + row[:, None] * known_stride + unit[None, :]
    i = tl.sigmoid(i + tl.load(gate, inside, other=0.0).to(tl.float32))
    f = tl.sigmoid(f + tl.load(gate + hidden, inside, other=0.0).to(tl.float32))
    g = tanh(g + tl.load(gate + 2 * hidden, inside, other=0.0).to(tl.float32))
    o = tl.sigmoid(o + tl.load(gate + 3 * hidden, inside, other=0.0).to(tl.float32))
    cell = i * g + f * kept
    kept = _clip(cell, clip)
    said = o * tanh(kept)
    out = opened + row[:, None] * 4 * hidden + unit[None, :]
    tl.store(out, i, inside)
    tl.store(out + hidden, f, inside)
    tl.store(out + 2 * hidden, g, inside)
    tl.store(out + 3 * hidden, o, inside)
    tl.store(carried + at_unit, cell, inside)
    ask = asked + row[:, None] * 2 * hidden + unit[None, :]
    tl.store(ask, kept.to(asked.dtype.element_ty), inside)
    tl.store(ask + hidden, said.to(asked.dtype.element_ty), inside)
    out = state + row[:, None] * width + unit[None, :]
    tl.store(out, said.to(state.dtype.element_ty), inside)


@triton.jit
def cell_backward(
    of_state,  # B S: its first H values
    of_sum,  # B C
    asking,  # 2H C
    opened,  # B 4H
    carried,  # B H
    carried_before,  # B H
    of_kept,  # B H: from the step behind, and out: for the step before
    of_gates,  # B 4H, out
    clip,
    samples,
    hidden: tl.constexpr,
    channels: tl.constexpr,
    FIRST: tl.constexpr,
    TILE: tl.constexpr,
    UNITS: tl.constexpr,
    DEPTH: tl.constexpr,
    STAGES: tl.constexpr,
    CHAINED: tl.constexpr,
    FETCHES: tl.constexpr,
):
    row = tl.program_id(0) * TILE + tl.arange(0, TILE)
    unit = tl.program_id(1) * UNITS + tl.arange(0, UNITS)
    if FETCHES:
        for half in tl.static_range(2):
            matrix = asking + half * hidden * channels
            _fetch_columns(matrix, tl.program_id(1) * UNITS, hidden, channels, UNITS)
    wait_for_kernel_before(CHAINED)
    of_cell = tl.zeros([TILE, UNITS], tl.float32)
    of_said = tl.zeros([TILE, UNITS], tl.float32)
    for first in tl.range(0, channels, DEPTH, num_stages=STAGES):
        at = first + tl.arange(0, DEPTH)
        slope = _load_left(of_sum, row, at, samples, channels)
        for_kept = _load_matrix(asking, unit, at, hidden, channels)
        for_said = _load_matrix(asking + hidden * channels, unit, at, hidden, channels)
        of_cell = tl.dot(slope, for_kept, of_cell, input_precision="ieee")
        of_said = tl.dot(slope, for_said, of_said, input_precision="ieee")
    inside = (row < samples)[:, None] & (unit < hidden)[None, :]
    at_unit = row[:, None] * hidden + unit[None, :]
    gate = opened + row[:, None] * 4 * hidden + unit[None, :]
    i = tl.load(gate, inside, other=0.0)
    f = tl.load(gate + hidden, inside, other=0.0)
    g = tl.load(gate + 2 * hidden, inside, other=0.0)
    o = tl.load(gate + 3 * hidden, inside, other=0.0)
    cell = tl.load(carried + at_unit, inside, other=0.0)
    kept = _clip(cell, clip)
    before = tl.zeros([TILE, UNITS], tl.float32)
    if not FIRST:
        before = _clip(tl.load(carried_before + at_unit, inside, other=0.0), clip)
    heard = tanh(kept)
    more = of_state + row[:, None] * (hidden + channels) + unit[None, :]
    of_said += tl.load(more, inside, other=0.0).to(tl.float32)
    of_cell += tl.load(of_kept + at_unit, inside, other=0.0)
    of_cell += of_said * o * (1.0 - heard * heard)
    of_cell = tl.where(cell == kept, of_cell, 0.0)  # what is clipped learns nothing
    kind = of_gates.dtype.element_ty
    out = of_gates + row[:, None] * 4 * hidden + unit[None, :]
    tl.store(out, (of_cell * g * i * (1.0 - i)).to(kind), inside)
    tl.store(out + hidden, (of_cell * before * f * (1.0 - f)).to(kind), inside)
    tl.store(out + 2 * hidden, (of_cell * i * (1.0 - g * g)).to(kind), inside)
    tl.store(out + 3 * hidden, (of_said * heard * o * (1.0 - o)).to(kind), inside)
    tl.store(of_kept + at_unit, of_cell * f, inside)
