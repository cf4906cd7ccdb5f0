"""What comparing two runs came to: step by step, and where they part first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

KINDS = ("batch", "loss", "gradient", "weight")
_ALIKE = 10.0  # two differences of one cause, where chance has a part in it


@dataclass(frozen=True)
class Apart:
    """One tensor of both runs, and how far they are apart.

    `relative` is the largest difference in parts of the largest number of the original's tensor;
    that of a batch is 0 or infinite.
    """

    kind: str
    name: str
    relative: float
    original_name: str = ""

    def __str__(self) -> str:
        if self.kind == "batch":
            return "the batch"
        what = "the loss" if self.kind == "loss" else f"the {self.kind} of `{self.name}`"
        if not math.isfinite(self.relative):
            return f"{what} (one is no finite number)"
        return f"{what} (by {self.relative:.1e})"


@dataclass(frozen=True)
class Step:
    """One train step of both runs; step 0 holds the weights before the first."""

    number: int
    losses: tuple[float | None, float | None]
    """Of the original and of the migrated run."""
    tensors: tuple[Apart, ...]

    def largest(self, kind: str) -> Apart | None:
        """The tensor of a kind that is furthest apart."""
        found = [tensor for tensor in self.tensors if tensor.kind == kind]
        return max(found, key=lambda tensor: tensor.relative, default=None)

    def parting(self, tolerance: float) -> Apart | None:
        """The first tensor beyond the tolerance, in the order in which a step computes them.

        Where no number differs, batches that do may be the same in another order.
        """
        beyond = [
            largest
            for kind in KINDS
            if (largest := self.largest(kind)) is not None and not largest.relative <= tolerance
        ]
        return None if all(tensor.kind == "batch" for tensor in beyond) else beyond[0]


@dataclass(frozen=True)
class Comparison:
    """Two runs; names are those of the migrated one."""

    tolerance: float
    steps: tuple[Step, ...]
    copied: tuple[str, ...] = ()
    """Variables that got the other run's first value, because seeds did not make them equal."""
    kept: tuple[str, ...] = ()
    """Variables that started with another value than their partner."""
    partners: tuple[tuple[str, str], ...] = ()
    """Variables that have another name in the original: migrated name, original name."""
    only_migrated: tuple[str, ...] = ()
    only_original: tuple[str, ...] = ()
    not_compared: tuple[str, ...] = ()
    """Chosen variables whose gradient only one run has."""
    free_draws: tuple[str, ...] = ()
    """Random operators that have no partner to share a seed with."""

    @property
    def trained(self) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.number > 0)

    @property
    def parting(self) -> tuple[int, Apart] | None:
        """The first step and tensor where the runs part."""
        for step in self.steps:
            tensor = step.parting(self.tolerance)
            if tensor is not None:
                return step.number, tensor
        return None

    @property
    def agrees(self) -> bool:
        return bool(self.trained) and self.parting is None

    @property
    def summary(self) -> str:
        """One sentence."""
        count = len(self.trained)
        if not count:
            return "the two runs have no train step in common"
        if (parting := self.parting) is None:
            steps = "1 step agrees" if count == 1 else f"{count} steps agree"
            return f"{steps} to {self.tolerance:g}; {self._largest_of_all()}"
        number, tensor = parting
        when = "before the first step" if number == 0 else f"at step {number} of {count}"
        return f"the runs part {when}, in {tensor}; {self._largest_of_all()}"

    def is_within(self, noise: Comparison) -> bool:
        """Whether these runs differ no more than two of the same script do."""
        if noise.agrees or self.parting is None or self.parting[0] == 0:
            return False
        return all(self._is_like(noise, kind) for kind in KINDS)

    def _is_like(self, noise: Comparison, kind: str) -> bool:
        ours, theirs = self.largest(kind), noise.largest(kind)
        if ours is None or ours.relative <= self.tolerance:
            return True
        return theirs is not None and ours.relative <= _ALIKE * theirs.relative

    def largest(self, kind: str) -> Apart | None:
        """The tensor of a kind that is furthest apart in any step."""
        found = [tensor for step in self.trained if (tensor := step.largest(kind)) is not None]
        return max(found, key=lambda tensor: tensor.relative, default=None)

    def _largest_of_all(self) -> str:
        kinds = ("loss", "gradient", "weight")
        parts = [f"{kind} {one.relative:.1e}" for kind in kinds if (one := self.largest(kind))]
        return "largest difference of " + ", ".join(parts) if parts else "nothing was recorded"

    @property
    def rows(self) -> tuple[dict[str, Any], ...]:
        """One plain dictionary a step, for tables and files."""
        return tuple(
            {
                "step": step.number,
                "original_loss": step.losses[0],
                "migrated_loss": step.losses[1],
                **{kind: _row(step.largest(kind)) for kind in KINDS},
            }
            for step in self.steps
        )


def _row(tensor: Apart | None) -> dict[str, Any] | None:
    return None if tensor is None else {"name": tensor.name, "relative": tensor.relative}
