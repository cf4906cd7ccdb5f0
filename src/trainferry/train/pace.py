"""What changes from update to update, where the device can read it: rate and averaging.

The host writes the next values into a table; a step takes those of the update it makes. So a step
is the same work every time, and nobody has to know which updates were left out.
"""

from __future__ import annotations

import torch
from torch import Tensor

from trainferry.devices.device import send
from trainferry.train.averaging import WeightAverage
from trainferry.train.recipe.sections import Recipe
from trainferry.train.schedule import learning_rate, peak_rate

AHEAD = 1024


class Pace:
    """The rate of the next update, and the share of the weights that averages take in."""

    def __init__(self, recipe: Recipe, average: WeightAverage | None, device: torch.device) -> None:
        self._recipe = recipe
        self._average = average
        # On the CPU torch makes a Python number of the rate; device programs read it as float32.
        exact = torch.float64 if device.type == "cpu" else torch.float32
        self.rate = torch.zeros((), dtype=exact, device=device)
        self.share = torch.zeros((), device=device)
        self._table = torch.zeros(2, AHEAD, dtype=exact, device=device)
        self._made = torch.zeros(1, dtype=torch.int64, device=device)
        self._first: int | None = None

    def reaches(self, step: int) -> bool:
        """Whether the table holds what an update of the weights of `step` needs."""
        return self._first is not None and self._first <= step < self._first + AHEAD

    def begin(self, step: int) -> None:
        """Write the table for `step`, which must be exact, and those behind it."""
        steps = range(step, step + AHEAD)
        peak = peak_rate(self._recipe)
        rates = [learning_rate(self._recipe.schedule, peak, each) for each in steps]
        average = self._average
        shares = [0.0 if average is None else average.share(each + 1) for each in steps]
        table = torch.tensor([rates, shares], dtype=self._table.dtype)
        self._table.copy_(send(table, self._table.device))
        self._made.zero_()
        self._first = step

    @torch.no_grad()
    def take(self) -> None:
        """On the device: the values of the update that comes next."""
        rate, share = self._table.index_select(1, self._made).squeeze(1).unbind()
        self.rate.copy_(rate)
        self.share.copy_(share)

    @torch.no_grad()
    def count(self, overflow: Tensor | None) -> None:
        """On the device: an update was made, or left out where `overflow` is 1."""
        if overflow is None:
            self._made += 1
        else:
            self._made += overflow == 0

    def made(self) -> Tensor:
        """The number of updates since the table was written; reading it waits for the device."""
        return self._made.double()

    def step(self, made: float) -> int:
        """The step after so many updates."""
        assert self._first is not None
        return self._first + int(made)
