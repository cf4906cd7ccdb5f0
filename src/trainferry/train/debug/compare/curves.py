"""The losses of two runs, step by step, from their journals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainferry.train.journal import read_journal

TOLERANCE = 0.01
"""Of the larger loss."""


@dataclass(frozen=True)
class Curves:
    """Losses by step; only steps that both runs logged are compared."""

    one: Mapping[int, float]
    other: Mapping[int, float]
    tolerance: float

    @property
    def steps(self) -> list[int]:
        return sorted(self.one.keys() & self.other.keys())

    def relative(self, step: int) -> float:
        """How far the losses of a step are apart, in parts of the larger."""
        mine, theirs = self.one[step], self.other[step]
        if mine == theirs or (math.isnan(mine) and math.isnan(theirs)):
            return 0.0
        if not (math.isfinite(mine) and math.isfinite(theirs)):
            return math.inf
        return abs(mine - theirs) / max(abs(mine), abs(theirs))

    @property
    def first_apart(self) -> int | None:
        """The first step at which they part beyond the tolerance."""
        apart = (step for step in self.steps if not self.relative(step) <= self.tolerance)
        return next(apart, None)

    @property
    def first_different(self) -> int | None:
        """The first step at which they are not the very same number."""
        return next((step for step in self.steps if self.relative(step)), None)

    def to_json(self) -> dict[str, Any]:
        steps = self.steps
        return {
            "tolerance": self.tolerance,
            "steps": steps,
            "one": [self.one[step] for step in steps],
            "other": [self.other[step] for step in steps],
            "largest_relative": max(map(self.relative, steps), default=None),
            "first_different": self.first_different,
            "first_apart": self.first_apart,
        }


def read_curves(one: Path, other: Path, tolerance: float) -> Curves:
    return Curves(_losses(one), _losses(other), tolerance)


def _losses(folder: Path) -> dict[int, float]:
    """Return the losses that count: a step that was done again, after a crash, as it was last."""
    if not (folder / "journal.jsonl").is_file():
        return {}
    return {
        int(entry["step"]): float(entry["loss"])
        for entry in read_journal(folder)
        if entry.get("event") == "logged"
    }
