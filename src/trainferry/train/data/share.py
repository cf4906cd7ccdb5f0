"""One rank's part of every batch, and its part of the random numbers of the whole batch."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Share:
    """The rows of one rank: of every batch, or part of one, the `rank`-th of `ranks` pieces.

    What is random about a sample must not depend on how many ranks there are. So every rank
    draws the numbers of the whole batch and keeps those of its own rows.
    """

    rank: int = 0
    ranks: int = 1

    def whole(self, rows: int) -> int:
        """Return how many rows all ranks have together, where this one has `rows`."""
        return rows * self.ranks

    def own(self, drawn: Tensor, dimension: int = 0) -> Tensor:
        """Return the rows of this rank of what was drawn for all."""
        rows = drawn.shape[dimension] // self.ranks
        return drawn.narrow(dimension, self.rank * rows, rows)

    def own_numbers(self, numbers: Tensor, rows: int) -> tuple[Tensor, Tensor]:
        """Tell which of some rows of the whole batch are this rank's, and their numbers here."""
        mine = numbers - self.rank * rows
        here = (mine >= 0) & (mine < rows)
        return here, mine[here]

    def normal_like(self, values: Tensor) -> Tensor:
        """Draw from the normal distribution for the whole batch, on the device of the values."""
        shape = (self.whole(len(values)), *values.shape[1:])
        if self.ranks == 1:
            return torch.randn_like(values)
        drawn = torch.empty_strided(
            shape, values.stride(), dtype=values.dtype, device=values.device
        )
        return self.own(drawn.normal_())


WHOLE = Share()
