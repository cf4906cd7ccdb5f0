"""Loss scaling: keeps small gradients of fp16 training from vanishing.

The loss is multiplied before the backward pass and the gradients are divided
after it. A step whose gradients are not finite is skipped by the caller: it
changes no weight and no step count. What it does to the scale follows
`ExponentialUpdateLossScaleManager` of TensorFlow's contrib, which the NPU's own
manager copies:

- finite: one more good step; the `grow_after`-th doubles the scale, and both
  counters start again.
- overflow: one more bad step, and good steps count from zero; the
  `shrink_after`-th halves the scale, never below 1, and both counters start
  again. Good steps in between do not clear the bad ones.
- a doubling that would not be finite is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from trainferry.errors import CheckpointError, RecipeError

LossScaleMode = Literal["none", "static", "dynamic"]

RECOMMENDED_START = 2.0**16
ORIGINAL_START = 2.0**32


@dataclass(frozen=True)
class LossScaleOptions:
    """How the scale starts and moves; the defaults are those of the originals, but for `start`."""

    mode: LossScaleMode = "none"
    start: float = RECOMMENDED_START
    grow_after: int = 1000
    grow_by: float = 2.0
    shrink_after: int = 2
    shrink_by: float = 0.5


class LossScale:
    """The scale in force, and the counters that move it."""

    def __init__(self, options: LossScaleOptions) -> None:
        _check(options)
        self.options = options
        self.value = 1.0 if options.mode == "none" else options.start
        self.overflows = 0
        self.overflows_in_a_row = 0
        self._good_steps = 0
        self._bad_steps = 0

    @property
    def skips_overflows(self) -> bool:
        """Whether the caller must look at `finite` before it changes weights."""
        return self.options.mode != "none"

    def scale(self, loss: Tensor) -> Tensor:
        return loss if self.value == 1.0 else loss * self.value

    def unscale(self, parameters: Iterable[Tensor]) -> Tensor:
        """Divide the gradients in place; return whether all are finite, a bool on their device.

        Reading the result waits for the device. Mode "none" divides nothing and
        looks all the same: a caller that does not care need not call.
        """
        gradients = [each.grad for each in parameters if each.grad is not None]
        if not gradients:
            return torch.tensor(True)
        factor = torch.full((), 1.0 / self.value, device=gradients[0].device)
        return multiply_gradients(gradients, factor) == 0

    def update(self, finite: bool) -> None:
        """Count one step, and move a dynamic scale."""
        self.overflows_in_a_row = 0 if finite else self.overflows_in_a_row + 1
        if not finite:
            self.overflows += 1
        if self.options.mode != "dynamic":
            return
        if finite:
            self._good_steps += 1
            if self._good_steps >= self.options.grow_after:
                self._move_to(self.value * self.options.grow_by)
        else:
            self._good_steps = 0
            self._bad_steps += 1
            if self._bad_steps >= self.options.shrink_after:
                self._move_to(max(1.0, self.value * self.options.shrink_by))

    def state(self) -> dict[str, float | int]:
        """What a checkpoint keeps, so that a resumed run scales as if never stopped."""
        return {
            "value": self.value,
            "good_steps": self._good_steps,
            "bad_steps": self._bad_steps,
            "overflows": self.overflows,
        }

    def restore(self, state: Mapping[str, float | int]) -> None:
        """Go on from `state()`; the scale itself only where it moves by itself."""
        if missing := sorted(self.state().keys() - state.keys()):
            raise CheckpointError(
                f"the loss scale in this checkpoint lacks {', '.join(missing)}",
                hint="the checkpoint is from another version; start from its weights instead",
            )
        if self.options.mode == "dynamic":
            self.value = float(state["value"])
            self._good_steps = int(state["good_steps"])
            self._bad_steps = int(state["bad_steps"])
        self.overflows = int(state["overflows"])

    def _move_to(self, value: float) -> None:
        # As in the original, the limit is that of fp32, in which the loss is multiplied.
        if value <= torch.finfo(torch.float32).max:
            self.value = value
        self._good_steps = 0
        self._bad_steps = 0


def multiply_gradients(gradients: list[Tensor], factor: Tensor) -> Tensor:
    """Multiply in place; return 1.0 where one of them is no finite number, else 0.0."""
    overflow = torch.zeros((), device=gradients[0].device)
    for group in _by_dtype(gradients):
        torch._amp_foreach_non_finite_check_and_unscale_(group, overflow, factor)
    return overflow


def _check(options: LossScaleOptions) -> None:
    if not (math.isfinite(options.start) and options.start >= 1.0):
        raise RecipeError(
            f"the loss scale cannot start at {options.start}",
            hint="choose a number of at least 1, such as 65536",
        )
    if options.grow_after < 1 or options.shrink_after < 1:
        raise RecipeError(
            "the loss scale must wait at least one step before it moves",
            hint="the originals grow after 1000 clean steps and shrink after 2 overflows",
        )
    if options.grow_by <= 1.0 or not 0.0 < options.shrink_by < 1.0:
        raise RecipeError(
            f"the loss scale cannot grow by {options.grow_by} and shrink by {options.shrink_by}",
            hint="grow by more than 1 (2 in the originals) and shrink by less (0.5)",
        )


def _by_dtype(gradients: list[Tensor]) -> Iterable[list[Tensor]]:
    groups: dict[torch.dtype, list[Tensor]] = {}
    for gradient in gradients:
        groups.setdefault(gradient.dtype, []).append(gradient)
    return groups.values()
