"""Batches on their way to a device while it still works on those before.

A program that has a whole step recorded is ahead of the device. It may send the next batch at
once, on a stream of its own, and the step waits for that alone. Two steps ahead is enough; more
would only fill the device with batches.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import torch

from trainferry.devices.capture import capture_helps
from trainferry.train.data.batch import Batch

_AHEAD = 2


class Sender:
    """Sends the batches of a run; `mark` says that the work on the last one has been started."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._module: Any = torch.get_device_module(device) if capture_helps(device) else None
        self._stream = None if self._module is None else self._module.Stream(device)
        self._works: deque[Any] = deque()

    def __call__(self, batch: Batch) -> Batch:
        if self._stream is None:
            return batch.to(self._device)
        if len(self._works) == _AHEAD:
            self._works.popleft().synchronize()
        here = self._module.current_stream(self._device)
        with self._module.stream(self._stream):
            there = batch.to(self._device)
        here.wait_stream(self._stream)
        there.hold_for(here)
        return there

    def mark(self) -> None:
        if self._stream is None:
            return
        work = self._module.Event()
        work.record(self._module.current_stream(self._device))
        self._works.append(work)
