"""SIGTERM and Ctrl-C: training ends behind its step, with a checkpoint, on all ranks together."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Self

import torch
from torch import Tensor

from trainferry.devices.collectives import Group, Wait

TERMINATED = "stopped by SIGTERM"
INTERRUPTED = "stopped by Ctrl-C"
STOPPING = "stopping behind this step, with a checkpoint; Ctrl-C once more stops at once, without"

_REASONS = {signal.SIGTERM: TERMINATED, signal.SIGINT: INTERRUPTED}
_RANKS_PER_STEP = 8


def exit_status(reason: str) -> int:
    """Return how a command ends whose training ended so; of signals, as shells count them."""
    return next((128 + number for number, known in _REASONS.items() if known == reason), 0)


class Stop:
    """Listens for SIGTERM and SIGINT; a second one of a kind does what it does without us.

    One rank that hears one is enough. Ranks ask each other while a step runs and look at the
    answer before the next one, so that nobody waits, and all stop at the same step.
    """

    def __init__(self, group: Group, say: Callable[[str], None]) -> None:
        self._group = group
        self._say = say
        self._heard: str | None = None
        self._answer: Tensor | None = None
        self._wait: Wait | None = None
        # Large groups answer slowly and are asked less often.
        self._every = -(-group.ranks // _RANKS_PER_STEP)

    def __enter__(self) -> Self:
        # Who is started in the background is not meant when somebody presses Ctrl-C.
        heard = [
            number
            for number in _REASONS
            if number is not signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN
        ]
        self._before = {number: signal.signal(number, self._hear) for number in heard}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if kind is None and self._wait is not None:
            self._wait()

    def reason(self, position: int) -> str | None:
        """Tell before batch `position`, on all ranks alike, whether training ends here, and why."""
        if self._group.is_alone:
            return self._heard
        if position % self._every:
            return None
        agreed = False
        if self._wait is not None and self._answer is not None:
            self._wait()
            agreed = bool(self._answer.item())
        self._answer = torch.tensor([int(self._heard is not None)])
        self._wait = self._group.start_sum(self._answer)
        return (self._heard or TERMINATED) if agreed else None

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        heard = signal.Signals(number)
        signal.signal(number, self._before[heard])
        if self._heard is None:
            self._heard = _REASONS[heard]
            if heard is signal.SIGINT:
                self._say(STOPPING)
