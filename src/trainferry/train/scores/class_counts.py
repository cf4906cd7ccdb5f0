"""Precision, recall and F1 of every class, and their averages, from three counts of each class.

They are those of scikit-learn. What has nothing to divide by is not a number here, never zero:
the precision of a class that was never named, the recall of one without samples.

Shapes: B samples, K classes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Shares = NDArray[np.float64]


@dataclass(frozen=True)
class ClassCounts:
    """Of each class, K: its samples, how often it was named, and how often rightly so."""

    samples: Counts
    named: Counts
    right: Counts

    @classmethod
    def count(cls, truths: Counts, answers: Counts, right: NDArray[np.bool_], classes: int) -> Self:
        """Count samples by their truth, B, and by what was answered, B."""
        return cls(
            np.bincount(truths, minlength=classes),
            np.bincount(answers, minlength=classes),
            np.bincount(truths[right], minlength=classes),
        )

    @classmethod
    def none(cls, classes: int) -> Self:
        return cls(*(np.zeros(classes, np.int64) for _ in range(3)))

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.samples + other.samples, self.named + other.named, self.right + other.right
        )

    def precision(self) -> Shares:
        """Return which share of the answers with a class is right, K."""
        return _share(self.right, self.named)

    def recall(self) -> Shares:
        """Return which share of the samples of a class is named right, K."""
        return _share(self.right, self.samples)

    def f1(self) -> Shares:
        """Return the harmonic mean of both, K; 0 for a class never named right, if it occurs."""
        return _share(2 * self.right, self.samples + self.named)

    def never_named(self) -> NDArray[np.bool_]:
        """Tell which classes have samples, but are no sample's answer, K."""
        return (self.samples > 0) & (self.named == 0)

    def rows(self) -> list[dict[str, Any]]:
        """Return counts and scores of each class, ready for JSON: None for what is not a number."""
        scores = {"precision": self.precision(), "recall": self.recall(), "f1": self.f1()}
        columns = {name: each.tolist() for name, each in (vars(self) | scores).items()}
        return [
            {name: _told(value) for name, value in zip(columns, row, strict=True)}
            for row in zip(*columns.values(), strict=True)
        ]

    def averages(self) -> dict[str, float]:
        """Return the means over all classes with samples: each alike, and by its samples.

        A class that was never named adds 0 to those of precision. Weighted, the recall is top-1.
        Without samples all are 0.
        """
        seen = self.samples > 0
        weights = self.samples[seen] / max(int(self.samples.sum()), 1)
        shares = {
            "precision": np.where(self.never_named(), 0.0, self.precision())[seen],
            "recall": self.recall()[seen],
            "f1": self.f1()[seen],
        }
        alike = {f"macro_{name}": _mean(values) for name, values in shares.items()}
        del shares["recall"]
        return alike | {f"weighted_{name}": float(each @ weights) for name, each in shares.items()}


def _share(part: Counts, whole: Counts) -> Shares:
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)


def _told(value: float) -> float | None:
    return None if math.isnan(value) else value


def _mean(values: Shares) -> float:
    return float(values.sum()) / max(len(values), 1)
