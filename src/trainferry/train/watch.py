"""The clock of the loop, and what it remembers of the last steps."""

from __future__ import annotations

import time
from collections import deque

from trainferry.errors import TrainingError
from trainferry.train.run import Run
from trainferry.train.tasks.task import Snapshot

MOST_OVERFLOWS_IN_A_ROW = 200
_LOGS_OF_THE_PACE = 20


class Watch:
    """The clock of the loop: rates, waiting, the time left, and how the loss moves."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.started = self.since = time.monotonic()
        self.earlier = run.seconds
        self.waited = 0.0
        self.batches = 0
        self.skipped = 0
        self.recent: deque[Snapshot] = deque(maxlen=50)
        self.said: str | None = None
        self._logged = deque([(self.started, run.step)], maxlen=_LOGS_OF_THE_PACE)

    def before_batch(self) -> None:
        self._asked = time.monotonic()

    def after_batch(self) -> None:
        self.waited += time.monotonic() - self._asked

    def count(self, *, skipped: int) -> None:
        self.batches += 1
        self.skipped += skipped
        if self.run.scale.overflows_in_a_row >= MOST_OVERFLOWS_IN_A_ROW:
            raise TrainingError(
                f"{MOST_OVERFLOWS_IN_A_ROW} batches in a row overflowed at loss scale "
                f"{self.run.scale.value:g}",
                hint="the weights or the data hold infinite values: try precision.name=bf16 "
                "or fp32, and a lower learning rate",
            )

    def seconds_per_step(self) -> float:
        """Return the pace of the last logs, evaluations between them included.

        Not of the whole run: what slowed its start down says nothing of its end.
        """
        now, step = time.monotonic(), self.run.step
        since, first = self._logged[0]
        self._logged.append((now, step))
        return (now - since) / max(step - first, 1)

    def tick(self) -> None:
        self.run.seconds = self.earlier + time.monotonic() - self.started

    def restart(self) -> None:
        self.since = time.monotonic()
        self.waited = 0.0
        self.batches = 0
        self.skipped = 0
