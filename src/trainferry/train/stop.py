"""SIGTERM: training ends behind the step it is in, with a checkpoint, on all ranks together."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Self

import torch
from torch import Tensor

from trainferry.devices.collectives import Group, Wait

TERMINATED = "stopped by SIGTERM"
TERMINATED_STATUS = 128 + signal.SIGTERM
"""The exit status of a run that was asked to stop and has saved, as shells count signals."""

_RANKS_PER_STEP = 8


class Stop:
    """Listens for SIGTERM; a second one ends the process at once.

    One rank that hears it is enough. Ranks ask each other while a step runs and look at the
    answer before the next one, so that nobody waits, and all stop at the same step.
    """

    def __init__(self, group: Group) -> None:
        self._group = group
        self._heard = False
        self._answer: Tensor | None = None
        self._wait: Wait | None = None
        # Large groups answer slowly and are asked less often.
        self._every = -(-group.ranks // _RANKS_PER_STEP)

    def __enter__(self) -> Self:
        self._before = signal.signal(signal.SIGTERM, self._hear)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        signal.signal(signal.SIGTERM, self._before)
        if kind is None and self._wait is not None:
            self._wait()

    def is_agreed(self, position: int) -> bool:
        """Tell before batch `position`, on all ranks alike, whether training ends here."""
        if self._group.is_alone:
            return self._heard
        if position % self._every:
            return False
        agreed = False
        if self._wait is not None and self._answer is not None:
            self._wait()
            agreed = bool(self._answer.item())
        self._answer = torch.tensor([int(self._heard)])
        self._wait = self._group.start_sum(self._answer)
        return agreed

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        self._heard = True
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
