"""What the passes of a norm read, and what they hand to each other.

Shapes: G groups of pictures with statistics of their own, C channels, S splits of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from trainferry.train.kernels.rows import Shares


@dataclass(frozen=True)
class Norm:
    """Weights and moving statistics of a norm; the latter are G C where there are groups.

    `debiased`, where there is one, is `mean` without its start at zero, after so many `steps`.
    """

    weight: Tensor
    bias: Tensor
    mean: Tensor
    variance: Tensor
    momentum: float
    epsilon: float
    batches: Tensor | None = None
    debiased: Tensor | None = None
    steps: Tensor | None = None

    @property
    def groups(self) -> int:
        return self.mean.numel() // self.weight.numel()


@dataclass(frozen=True)
class Maps:
    """What both directions read; `statistics` are means and variances, 2 G C or wider."""

    features: Tensor
    statistics: Tensor
    weight: Tensor
    bias: Tensor
    epsilon: float

    @property
    def groups(self) -> int:
        return self.statistics.shape[1]

    @property
    def stored(self) -> int:
        """How many channels the statistics are of: those of the features are the first."""
        return self.statistics.shape[2]


@dataclass(frozen=True)
class Parts:
    """Two sums per split of the rows, folded row and channel, 2 G S F*C; S+1 for statistics."""

    sums: Tensor
    shares: Shares


@dataclass(frozen=True)
class Ledger:
    """Gradients of a map that many layers read, added up without what the statistics take away.

    That is the same for all rows but for a factor: `corrections` add it up per channel.
    """

    gradient: Tensor
    corrections: Tensor
    is_new: bool
