"""The programs of an LSTM that reads both ways; `kernels/recurrence.py` says what they compute.

Shapes: B pictures, T columns, H values of a direction. A program has UNITS of a direction's values
for ROWS pictures, and keeps their recurrent weights. All programs of a direction and its pictures
run at the same time and need of each other what they store at every step. Where it is MARKED, the
memory for that holds marks at first, the NaN whose bits are all 1, which no device makes: who
reads waits until none is left. Else each counts itself, and who reads waits for the count. Either
way the waiting ends after some `polls`, and what depends on numbers that never came is NaN.

Weights have the gates in torch's order, i, f, g, o, each with all its units; everything else has
the units in order, each with its gates: what a program loads and stores lies side by side.
"""

from __future__ import annotations

import triton
import triton.language as tl

COUNTER_STRIDE = tl.constexpr(32)  # a line of memory each: they do not hinder each other


@triton.jit
def _tanh(x):
    return 2.0 * tl.sigmoid(2.0 * x) - 1.0


@triton.jit
def _time_of(step, columns, backwards):
    return tl.where(backwards, columns - 1 - step, step)


@triton.jit
def _row_of_weights(number, first, H: tl.constexpr):
    """Which row of the weights is that of a gate, counted unit by unit."""
    return (number % 4) * H + first + number // 4


@triton.jit
def _apart(gates, ROWS: tl.constexpr, UNITS: tl.constexpr):
    even, odd = tl.split(tl.reshape(gates, [ROWS, UNITS, 2, 2]))
    i, g = tl.split(even)
    f, o = tl.split(odd)
    return i, f, g, o


@triton.jit
def _joined(i, f, g, o, ROWS: tl.constexpr, UNITS: tl.constexpr):
    return tl.reshape(tl.join(tl.join(i, g), tl.join(f, o)), [ROWS, 4 * UNITS])


@triton.jit
def _tell(counter, SLICES: tl.constexpr, MARKED: tl.constexpr):
    """Let others know that all this program has for the step is stored."""
    if SLICES == 1:
        tl.debug_barrier()
    elif not MARKED:
        tl.debug_barrier()  # what all threads store comes before the count of one
        tl.atomic_add(counter, 1, sem="release", scope="gpu")


@triton.jit
def _count(counter):
    return tl.inline_asm_elementwise(
        "ld.acquire.gpu.global.u32 $0, [$1];",
        "=r,l",
        [counter.to(tl.int64)],
        dtype=tl.int32,
        is_pure=False,
        pack=1,
    )


@triton.jit
def _wait(counter, expected, polls, SLICES: tl.constexpr, MARKED: tl.constexpr):
    if (SLICES > 1) and (not MARKED):
        count = _count(counter)
        while (count < expected) & (polls > 0):
            count = _count(counter)
            polls -= 1
    return polls


@triton.jit
def _has_marks(values):
    bits = values.to(tl.int16, bitcast=True)
    return tl.max((bits == -1).to(tl.int32)) > 0


@triton.jit
def _load_shared(at, inside, polls, SLICES: tl.constexpr, MARKED: tl.constexpr):
    """Load what other programs have stored, not from a near cache."""
    values = tl.load(at, inside, other=0.0, volatile=True)
    if (SLICES > 1) and MARKED:
        while _has_marks(values) & (polls > 0):
            values = tl.load(at, inside, other=0.0, volatile=True)
            polls -= 1
    return values, polls


@triton.jit
def _multiply(values, weights, ROWS: tl.constexpr, COLUMNS: tl.constexpr, PARTS: tl.constexpr):
    """The product of parts side by side, added up: by `tl.sum` all threads would have all sums."""
    total = tl.dot(values, weights, input_precision="ieee")
    if PARTS > 1:
        total = tl.permute(total, [1, 2, 0])
    if PARTS == 8:
        one, other = tl.split(tl.reshape(total, [ROWS, COLUMNS, 4, 2]))
        total = one + other
    if PARTS > 1:
        one, other = tl.split(tl.reshape(total, [ROWS, COLUMNS, 2, 2]))
        one, other = tl.split(one + other)
        total = one + other
    return total


@triton.jit
def _places(row, stride, LENGTH: tl.constexpr, PARTS: tl.constexpr):
    """Where the factors of a product lie in their rows, and which number of all each has."""
    if PARTS == 1:
        number = tl.arange(0, LENGTH)
        return row * stride + number[None, :], number[:, None]
    else:
        part = tl.arange(0, PARTS)[:, None, None] * (LENGTH // PARTS)
        number = tl.arange(0, LENGTH // PARTS)
        return row[None, :, :] * stride + part + number[None, None, :], part + number[None, :, None]


@triton.jit
def _open(sums, cell, ROWS: tl.constexpr, UNITS: tl.constexpr):
    i, f, g, o = _apart(sums, ROWS, UNITS)
    i, f, g, o = tl.sigmoid(i), tl.sigmoid(f), _tanh(g), tl.sigmoid(o)
    cell = f * cell + i * g
    return _joined(i, f, g, o, ROWS, UNITS), cell, o * _tanh(cell)


@triton.jit(do_not_specialize=["first_picture", "pictures", "columns", "polls"])
def read_forward(
    given,  # B T 2 H 4: what the columns say to the gates
    gates,  # B T 2 H 4, out: the opened gates; may lie where `given` does
    weights,  # 2 4H H
    biases,  # 2 2 4H: two of each direction, to be added
    cells,  # B T 2 H, out
    before,  # B T 2 H, out: what each step got from the one before
    read,  # B T 2 H, out
    last_hidden,  # 2 B H, out
    last_cell,  # 2 B H, out
    counters,  # 2, tiles of pictures; zero
    first_picture,
    pictures,
    columns,
    polls,
    H: tl.constexpr,
    UNITS: tl.constexpr,
    ROWS: tl.constexpr,
    SLICES: tl.constexpr,  # H / UNITS
    MARKED: tl.constexpr,
    PARTS: tl.constexpr,  # of a long product, computed side by side
):
    kind = read.dtype.element_ty
    first = tl.program_id(0) * UNITS
    direction = tl.program_id(2)
    backwards = direction == 1
    start = first_picture + tl.program_id(1) * ROWS
    counter = counters + (direction * tl.num_programs(1) + tl.program_id(1)) * COUNTER_STRIDE
    row = tl.arange(0, ROWS)[:, None]
    inside = start + row < pictures
    unit = first + tl.arange(0, UNITS)
    column = 4 * first + tl.arange(0, 4 * UNITS)
    at = row * columns * (2 * H) + unit[None, :]
    at_all, number = _places(row, columns * (2 * H), H, PARTS)
    inside_all = inside if PARTS == 1 else inside[None, :, :]
    at_gates = row * columns * (8 * H) + column[None, :]
    here = (start.to(tl.int64) * columns) * 2 + direction
    weights_row = _row_of_weights(tl.arange(0, 4 * UNITS), first, H)
    weights = tl.load(weights + direction * (4 * H * H) + weights_row * H + number)
    biases += direction * (8 * H)
    bias = tl.load(biases + weights_row).to(tl.float32)
    bias += tl.load(biases + 4 * H + weights_row).to(tl.float32)

    nothing = tl.zeros([ROWS, UNITS], tl.float32)
    place = here + _time_of(0, columns, backwards) * 2
    sums = tl.load(given + place * (4 * H) + at_gates, inside, other=0.0).to(tl.float32)
    opened, cell, hidden = _open(sums + bias[None, :], nothing, ROWS, UNITS)
    tl.store(before + place * H + at, nothing.to(kind), inside)
    step = 1
    while step < columns:
        place = here + _time_of(step, columns, backwards) * 2
        tl.store(before + place * H + at, hidden.to(kind), inside)
        _tell(counter, SLICES, MARKED)
        done = here + _time_of(step - 1, columns, backwards) * 2
        sums = tl.load(given + place * (4 * H) + at_gates, inside, other=0.0).to(tl.float32)
        sums += bias[None, :]
        tl.store(read + done * H + at, hidden.to(kind), inside)
        tl.store(cells + done * H + at, cell, inside)
        tl.store(gates + done * (4 * H) + at_gates, opened.to(gates.dtype.element_ty), inside)
        polls = _wait(counter, step * SLICES, polls, SLICES, MARKED)
        told, polls = _load_shared(before + place * H + at_all, inside_all, polls, SLICES, MARKED)
        sums += _multiply(told, weights, ROWS, 4 * UNITS, PARTS)
        opened, cell, hidden = _open(sums, cell, ROWS, UNITS)
        hidden = tl.where(polls > 0, hidden, float("nan"))
        step += 1
    done = here + _time_of(columns - 1, columns, backwards) * 2
    tl.store(read + done * H + at, hidden.to(kind), inside)
    tl.store(cells + done * H + at, cell, inside)
    tl.store(gates + done * (4 * H) + at_gates, opened.to(gates.dtype.element_ty), inside)
    at_last = (direction * pictures + start + row) * H + unit[None, :]
    tl.store(last_hidden + at_last, hidden, inside)
    tl.store(last_cell + at_last, cell, inside)


@triton.jit
def _factors(opened, cell, cell_before, ROWS: tl.constexpr, UNITS: tl.constexpr):
    """What needs no other program: all that gradients are multiplied by.

    That of the cell is, for i, f, g and the cell before; that of the hidden values, for o and for
    the cell.
    """
    i, f, g, o = _apart(opened, ROWS, UNITS)
    shown = _tanh(cell)
    to_i = g * i * (1.0 - i)
    to_f = cell_before * f * (1.0 - f)
    to_g = i * (1.0 - g * g)
    to_o = shown * o * (1.0 - o)
    return to_i, to_f, to_g, f, to_o, o * (1.0 - shown * shown)


@triton.jit(do_not_specialize=["first_picture", "pictures", "columns", "polls"])
def read_backward(
    gradient,  # B T 2 H, of what was read
    of_hidden,  # 2 B H, of the last state, where FROM_STATE
    of_cell,  # 2 B H
    gates,  # B T 2 H 4
    cells,  # B T 2 H
    weights,  # 2 4H H
    told,  # B T 2 H 4, out: the gradients of what was given
    sums,  # tiles of pictures, 2 4H, out: those of the biases
    counters,  # 2, tiles of pictures; zero
    first_picture,
    pictures,
    columns,
    polls,
    FROM_STATE: tl.constexpr,
    H: tl.constexpr,
    UNITS: tl.constexpr,
    ROWS: tl.constexpr,
    SLICES: tl.constexpr,  # H / UNITS
    MARKED: tl.constexpr,
    PARTS: tl.constexpr,  # of a long product, computed side by side
):
    kind = told.dtype.element_ty
    first = tl.program_id(0) * UNITS
    direction = tl.program_id(2)
    backwards = direction == 0
    start = first_picture + tl.program_id(1) * ROWS
    counter = counters + (direction * tl.num_programs(1) + tl.program_id(1)) * COUNTER_STRIDE
    row = tl.arange(0, ROWS)[:, None]
    inside = start + row < pictures
    unit = first + tl.arange(0, UNITS)
    column = 4 * first + tl.arange(0, 4 * UNITS)
    at = row * columns * (2 * H) + unit[None, :]
    at_gates = row * columns * (8 * H) + column[None, :]
    here = (start.to(tl.int64) * columns) * 2 + direction
    at_all, number = _places(row, columns * (8 * H), 4 * H, PARTS)
    inside_all = inside if PARTS == 1 else inside[None, :, :]
    weights += direction * (4 * H * H)
    weights = tl.load(weights + _row_of_weights(number, 0, H) * H + unit)

    nothing = tl.zeros([ROWS, UNITS], tl.float32)
    total = tl.zeros([4 * UNITS], tl.float32)
    place = here + _time_of(0, columns, backwards) * 2
    before = here + _time_of(1, columns, backwards) * 2
    opened = tl.load(gates + place * (4 * H) + at_gates, inside, other=0.0).to(tl.float32)
    cell = tl.load(cells + place * H + at, inside, other=0.0)
    cell_before = tl.load(cells + before * H + at, inside & (columns > 1), other=0.0)
    to_i, to_f, to_g, to_before, to_o, to_cell = _factors(opened, cell, cell_before, ROWS, UNITS)
    passed = tl.load(gradient + place * H + at, inside, other=0.0).to(tl.float32)
    cell_gradient = nothing
    if FROM_STATE:
        at_last = (direction * pictures + start + row) * H + unit[None, :]
        passed += tl.load(of_hidden + at_last, inside, other=0.0).to(tl.float32)
        cell_gradient += tl.load(of_cell + at_last, inside, other=0.0).to(tl.float32)
    step = 1
    while step < columns:
        done = here + _time_of(step - 1, columns, backwards) * 2
        cell_gradient += passed * to_cell
        closed = _joined(
            *(cell_gradient * to_i, cell_gradient * to_f, cell_gradient * to_g, passed * to_o),
            ROWS,
            UNITS,
        )
        tl.store(told + done * (4 * H) + at_gates, closed.to(kind), inside)
        _tell(counter, SLICES, MARKED)
        cell_gradient *= to_before
        place = here + _time_of(step, columns, backwards) * 2
        before = here + _time_of(step + 1, columns, backwards) * 2
        opened = tl.load(gates + place * (4 * H) + at_gates, inside, other=0.0).to(tl.float32)
        cell = cell_before
        cell_before = tl.load(cells + before * H + at, inside & (step + 1 < columns), other=0.0)
        further = tl.load(gradient + place * H + at, inside, other=0.0).to(tl.float32)
        total += tl.sum(closed, 0)
        to_i, to_f, to_g, to_before, to_o, to_cell = _factors(
            opened, cell, cell_before, ROWS, UNITS
        )
        polls = _wait(counter, step * SLICES, polls, SLICES, MARKED)
        at_told = told + done * (4 * H) + at_all
        all_closed, polls = _load_shared(at_told, inside_all, polls, SLICES, MARKED)
        passed = further + _multiply(all_closed, weights, ROWS, UNITS, PARTS)
        passed = tl.where(polls > 0, passed, float("nan"))
        step += 1
    done = here + _time_of(columns - 1, columns, backwards) * 2
    cell_gradient += passed * to_cell
    closed = _joined(
        *(cell_gradient * to_i, cell_gradient * to_f, cell_gradient * to_g, passed * to_o),
        ROWS,
        UNITS,
    )
    tl.store(told + done * (4 * H) + at_gates, closed.to(kind), inside)
    at_sums = (start // ROWS * 2 + direction) * (4 * H)
    at_sums += _row_of_weights(tl.arange(0, 4 * UNITS), first, H)
    tl.store(sums + at_sums, total + tl.sum(closed, 0))
