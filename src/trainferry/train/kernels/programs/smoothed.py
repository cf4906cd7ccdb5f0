"""The programs of the cross-entropy with smoothed labels; `kernels/smoothed.py` says what for.

Shapes: N rows, K classes. A program takes `ROWS` rows with all their classes.
"""

from __future__ import annotations

import triton
import triton.language as tl

_LOWEST = tl.constexpr(-1e30)  # below every score, and finite: a difference of two is a number


@triton.jit
def _load_scores(scores, row, at, rows, classes):
    inside = (row < rows)[:, None] & (at < classes)[None, :]
    near = scores + row.to(tl.int64)[:, None] * classes + at[None, :]
    return tl.where(inside, tl.load(near, inside, other=0.0).to(tl.float32), _LOWEST), inside


@triton.jit
def lose(
    scores,  # N K
    labels,  # N
    losses,  # N, out
    norms,  # N, out: logarithms of the sums of exponentials
    rows,
    smoothing,
    classes: tl.constexpr,
    ROWS: tl.constexpr,
    CLASSES: tl.constexpr,
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = tl.arange(0, CLASSES)
    score, inside = _load_scores(scores, row, at, rows, classes)
    label = tl.load(labels + row, row < rows, other=0).to(tl.int32)
    highest = tl.max(score, 1)
    norm = highest + tl.log(tl.sum(tl.exp(score - highest[:, None]), 1))
    right = tl.sum(tl.where(at[None, :] == label[:, None], score, 0.0), 1)
    # Below the norm, so that no large numbers cancel.
    others = tl.sum(tl.where(inside, norm[:, None] - score, 0.0), 1) / classes
    loss = (1.0 - smoothing) * (norm - right)
    if smoothing > 0.0:  # without, a class that cannot be costs nothing: not 0 times infinity
        loss += smoothing * others
    loss = tl.where((label >= 0) & (label < classes), loss, float("nan"))  # no such class
    tl.store(losses + row, loss, row < rows)
    tl.store(norms + row, norm, row < rows)


@triton.jit
def lose_back(
    scores,  # N K
    labels,  # N
    norms,  # N
    wish,  # N
    gradient,  # N K, out
    rows,
    smoothing,
    classes: tl.constexpr,
    ROWS: tl.constexpr,
    CLASSES: tl.constexpr,
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = tl.arange(0, CLASSES)
    score, inside = _load_scores(scores, row, at, rows, classes)
    label = tl.load(labels + row, row < rows, other=0).to(tl.int32)
    norm = tl.load(norms + row, row < rows, other=0.0)
    factor = tl.load(wish + row, row < rows, other=0.0)
    share = tl.exp(score - norm[:, None]) - smoothing / classes
    share -= tl.where(at[None, :] == label[:, None], 1.0 - smoothing, 0.0)
    out = gradient + row.to(tl.int64)[:, None] * classes + at[None, :]
    tl.store(out, (share * factor[:, None]).to(gradient.dtype.element_ty), inside)
