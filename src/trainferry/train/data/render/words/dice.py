"""Random decisions of one picture, all drawn from one seed."""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

Thing = TypeVar("Thing")

_BLOCK = 256


class Dice:
    """The decisions for one picture; numbers are drawn in blocks, since one by one is slow."""

    def __init__(self, seed: int, split: str, index: int) -> None:
        entropy = (seed, zlib.crc32(split.encode()), index)
        self.generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy)))
        self._block: list[float] = []

    def fraction(self) -> float:
        """Return a number from 0 up to, not including, 1."""
        if not self._block:
            self._block = self.generator.random(_BLOCK).tolist()
        return self._block.pop()

    def chance(self, probability: float) -> bool:
        return self.fraction() < probability

    def between(self, low: float, high: float) -> float:
        return low + (high - low) * self.fraction()

    def low_between(self, low: float, high: float, power: float = 2.0) -> float:
        """Return a number between the two, the nearer to `low` the likelier."""
        return low + (high - low) * self.fraction() ** power

    def bell(self, spread: float) -> float:
        """Return a number around 0, about normal with that deviation, never beyond three."""
        return (self.fraction() + self.fraction() + self.fraction() - 1.5) * 2 * spread

    def whole(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both included."""
        return low + int((high - low + 1) * self.fraction())

    def pick(self, things: Sequence[Thing]) -> Thing:
        return things[int(len(things) * self.fraction())]

    def pick_weighted(self, things: Sequence[Thing], sums: Sequence[float]) -> Thing:
        """Pick by weight; `sums` are the running sums of the weights."""
        place = bisect_right(sums, self.fraction() * sums[-1])
        return things[min(place, len(things) - 1)]
