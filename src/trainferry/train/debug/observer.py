"""Someone who looks on while the loop trains, and changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from trainferry.train.data.batch import Batch


class Observer(Protocol):
    """Is told where the loop is. What it raises ends the training."""

    def before_batch(self) -> None:
        """The loop asks for its next batch."""

    def before_step(self, batch: Batch) -> None:
        """The batch is here, and nothing was done with it yet."""

    def after_step(self) -> None:
        """The update was made, or left out because the gradients overflowed."""

    def close(self) -> None:
        """Training has ended, in whichever way: leave the network as it was."""


@dataclass(frozen=True)
class Observers:
    """Several that look on as one; none of them is the usual case."""

    each: Sequence[Observer] = ()

    def before_batch(self) -> None:
        for observer in self.each:
            observer.before_batch()

    def before_step(self, batch: Batch) -> None:
        for observer in self.each:
            observer.before_step(batch)

    def after_step(self) -> None:
        for observer in self.each:
            observer.after_step()

    def close(self) -> None:
        for observer in self.each:
            observer.close()


NOBODY = Observers()
