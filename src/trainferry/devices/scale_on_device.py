"""A loss scale that moves on the device: whether a step overflowed, nobody has to wait for.

The rules are those of `loss_scale.py`, in operators without a branch.
"""

from __future__ import annotations

import torch
from torch import Tensor

from trainferry.devices.loss_scale import LossScale

_LARGEST = torch.finfo(torch.float32).max


class ScaleOnDevice:
    """Starts where a scale stands, and tells it on demand how it stands now."""

    def __init__(self, scale: LossScale, device: torch.device) -> None:
        self._scale = scale
        state = scale.state()
        self._value = torch.tensor(scale.value, dtype=torch.float64, device=device)
        counts = [state["good_steps"], state["bad_steps"], scale.overflows]
        counted = torch.tensor([*counts, scale.overflows_in_a_row], device=device)
        self._good, self._bad, self._overflows, self._in_a_row = counted.long().unbind()

    def scale(self, loss: Tensor) -> Tensor:
        return loss * self._value.float()

    def inverse(self) -> Tensor:
        """What scaled gradients are multiplied by."""
        return (1.0 / self._value).float()

    @torch.no_grad()
    def update(self, overflow: Tensor) -> None:
        """Count one step, which overflowed where `overflow` is 1, and move a dynamic scale."""
        lost = overflow > 0
        self._overflows += lost
        self._in_a_row.copy_((self._in_a_row + 1) * lost)
        options = self._scale.options
        if options.mode != "dynamic":
            return
        good, bad = (self._good + 1) * ~lost, self._bad + lost
        grows, shrinks = good >= options.grow_after, lost & (bad >= options.shrink_after)
        larger, smaller = self._value * options.grow_by, self._value * options.shrink_by
        larger = torch.where(larger <= _LARGEST, larger, self._value)
        moved = torch.where(shrinks, smaller.clamp(min=1.0), self._value)
        self._value.copy_(torch.where(grows, larger, moved))
        stays = ~(grows | shrinks)
        self._good.copy_(good * stays)
        self._bad.copy_(bad * stays)

    def facts(self) -> Tensor:
        """All that the host may want to know, in one tensor, for `tell`."""
        counts = (self._good, self._bad, self._overflows, self._in_a_row)
        return torch.stack([self._value, *(count.double() for count in counts)])

    def tell(self, facts: list[float]) -> None:
        """Let the scale of the host stand where this one stood."""
        value, good, bad, overflows, in_a_row = facts
        state = {"value": value, "good_steps": good, "bad_steps": bad, "overflows": overflows}
        self._scale.restore(state)
        self._scale.overflows_in_a_row = int(in_a_row)
