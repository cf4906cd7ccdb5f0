"""What the loop asks of a task, whichever network it trains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self

if TYPE_CHECKING:
    from torch import Tensor

    from trainferry.train.data.batch import Batch


@dataclass(frozen=True)
class Example:
    """One sample as the network sees it, for the log."""

    position: int
    truth: str
    read: str
    confidence: float


@dataclass(frozen=True)
class Snapshot:
    """How training looks at one step; shares are of the samples of one batch."""

    step: int
    loss: float
    empty_share: float  # nothing was read
    distinct_share: float  # different readings, 1 when no two are equal


class Score(Protocol):
    """Sums over samples, divided only when asked for values; processes add their `state`."""

    @property
    def primary(self) -> str:
        """The name of the value that decides which checkpoint is the best."""

    def add(self, logits: Tensor, batch: Batch) -> None:
        """Count the rows of the batch that are valid."""

    def merge(self, other: Self) -> None:
        """Count what `other` counted."""

    def state(self) -> dict[str, float]:
        """Plain sums: states of several processes may be added key by key."""

    def load_state(self, state: Mapping[str, float]) -> None:
        """Take over sums that `state` gave, of one process or of several added up."""

    def values(self) -> dict[str, float]:
        """Named scores, higher is better, and "loss" and "samples"."""

    def examples(self) -> list[Example]:
        """A few samples with what was read, mistakes first."""

    def details(self) -> dict[str, Any]:
        """What a report tells beside the values, ready for JSON: which mistakes were made."""


class Task(Protocol):
    """Input, loss, decoding and score of one kind of network."""

    def inputs(self, images: Tensor) -> Tensor:
        """Map pictures, B H W C with values 0 to 255, to what the network takes, B C H W."""

    def vary(self, batch: Batch) -> tuple[Tensor, Batch]:
        """Return the inputs of a training batch, varied, and the batch with fitting labels."""

    def hints(self, batch: Batch) -> tuple[Tensor, ...]:
        """Return what the network is told in training beside its inputs."""

    def losses(self, logits: Tensor, batch: Batch) -> Tensor:
        """Return the loss of each sample, B, in float32; the loop takes the mean."""

    def new_score(self) -> Score:
        """Return a score that has counted nothing yet."""

    def snapshot(self, step: int, loss: float, logits: Tensor) -> Snapshot:
        """Look at what a training batch gives; waits for the device."""

    def diagnose(self, recent: Sequence[Snapshot]) -> str | None:
        """Say in plain words what goes wrong and what to try, or None."""
