"""How far two tensors that should be the same are apart, over any number of batches."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

_TINY = 1e-30


@dataclass
class Values:
    """All values of a layer so far, in a few numbers; of the finite ones but for their count."""

    dtype: str = ""
    minimum: float = math.inf
    maximum: float = -math.inf
    total: float = 0.0
    squares: float = 0.0
    finite: int = 0
    count: int = 0

    def add(self, wide: Tensor, dtype: torch.dtype) -> None:
        self.dtype = str(dtype).removeprefix("torch.")
        kept = wide[wide.isfinite()]
        self.count += wide.numel()
        self.finite += kept.numel()
        if kept.numel():
            self.minimum = min(self.minimum, float(kept.min()))
            self.maximum = max(self.maximum, float(kept.max()))
            self.total += float(kept.sum())
            self.squares += float(kept.dot(kept))

    @property
    def largest(self) -> float:
        return max(abs(self.minimum), abs(self.maximum)) if self.finite else 0.0

    def to_json(self) -> dict[str, Any]:
        some = self.finite > 0
        return {
            "dtype": self.dtype,
            "minimum": self.minimum if some else None,
            "maximum": self.maximum if some else None,
            "mean": self.total / self.finite if some else None,
            "non_finite_share": 1 - self.finite / self.count if self.count else 0.0,
        }


@dataclass
class Difference:
    """One tensor of a layer in both; `reason` says why they cannot be compared."""

    layer: str
    kind: str
    name: str  # input0, call2.output0
    shape: tuple[int, ...] = ()
    one: Values = field(default_factory=Values)
    other: Values = field(default_factory=Values)
    largest_difference: float = 0.0
    products: float = 0.0
    yardstick: float = 0.0  # what a difference is measured by, if larger than the values
    reason: str | None = None

    def add(self, one: Tensor, other: Tensor) -> None:
        """Count two tensors, on the CPU and of any type; NaN in both at one place is the same."""
        self.shape = tuple(one.shape)
        if one.shape != other.shape:
            self.reason = f"shape {list(one.shape)} and {list(other.shape)}"
            return
        mine, theirs = (each.detach().flatten().double() for each in (one, other))
        self.one.add(mine, one.dtype)
        self.other.add(theirs, other.dtype)
        both = mine.isfinite() & theirs.isfinite()
        same = (mine == theirs) | (mine.isnan() & theirs.isnan())
        if bool((~both & ~same).any()):
            self.largest_difference = math.inf
        mine, theirs = mine[both], theirs[both]
        if mine.numel():
            apart = float((mine - theirs).abs().max())
            self.largest_difference = max(self.largest_difference, apart)
            self.products += float(mine.dot(theirs))

    @property
    def relative(self) -> float:
        """The largest difference, in parts of the largest value of both, or of the yardstick."""
        if self.reason is not None:
            return math.inf
        if not self.largest_difference:
            return 0.0
        largest = max(self.one.largest, self.other.largest, self.yardstick, _TINY)
        return self.largest_difference / largest

    @property
    def cosine(self) -> float | None:
        """1 where both point the same way; None where one is zero or cannot be compared."""
        lengths = math.sqrt(self.one.squares * self.other.squares)
        if self.reason is not None or not lengths:
            return None
        return max(-1.0, min(1.0, self.products / lengths))

    def parts(self, tolerance: float) -> bool:
        return not self.relative <= tolerance

    def to_json(self, tolerance: float) -> dict[str, Any]:
        return {
            "layer": self.layer,
            "kind": self.kind,
            "name": self.name,
            "shape": list(self.shape),
            "largest_difference": _number(self.largest_difference),
            "relative": _number(self.relative),
            "cosine": self.cosine,
            "parts": self.parts(tolerance),
            "reason": self.reason,
            "one": self.one.to_json(),
            "other": self.other.to_json(),
        }


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)
