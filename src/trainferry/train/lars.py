"""LARS: every kernel moves in proportion to its own length, for very large batches.

You, Gitman and Ginsburg, 2017, https://arxiv.org/abs/1708.03888, as in
`tf.contrib.opt.LARSOptimizer`: the rate is a factor of what the momentum takes in, so what is
kept of earlier updates keeps the rate they were made with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

_KEPT = "momentum_buffer"


class LARS(Optimizer):
    """Updates with the rate times `trust` * |weight| / (|gradient| + decay * |weight|).

    Groups with `adapted` False have neither this ratio nor weight decay: norms and biases.
    """

    def __init__(
        self,
        groups: Iterable[dict[str, Any]],
        *,
        lr: float,
        momentum: float,
        nesterov: bool,
        trust: float,
    ) -> None:
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "nesterov": nesterov,
            "trust": trust,
            "weight_decay": 0.0,
            "adapted": True,
        }
        super().__init__(groups, defaults)

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]  # never asked for a loss
        assert closure is None
        for group in self.param_groups:
            weights = [weight for weight in group["params"] if weight.grad is not None]
            if weights:
                self._move(weights, group)

    def _move(self, weights: list[Tensor], group: dict[str, Any]) -> None:
        gradients = [weight.grad for weight in weights if weight.grad is not None]
        if group["adapted"]:
            rates = _adapted_rates(weights, gradients, group)
            gradients = list(torch._foreach_add(gradients, weights, alpha=group["weight_decay"]))
            changes = list(torch._foreach_mul(gradients, rates))
        else:
            changes = list(torch._foreach_mul(gradients, group["lr"]))
        kept = [self._kept(weight) for weight in weights]
        torch._foreach_mul_(kept, group["momentum"])
        torch._foreach_add_(kept, changes)
        if group["nesterov"]:
            torch._foreach_add_(changes, kept, alpha=group["momentum"])
            torch._foreach_sub_(weights, changes)
        else:
            torch._foreach_sub_(weights, kept)

    def _kept(self, weight: Tensor) -> Tensor:
        state = self.state[weight]
        if _KEPT not in state:
            state[_KEPT] = torch.zeros_like(weight)
        kept: Tensor = state[_KEPT]
        return kept


def _adapted_rates(
    weights: list[Tensor], gradients: list[Tensor], group: dict[str, Any]
) -> list[Tensor]:
    """The rate of each weight, on its device; a length of 0 leaves the rate as it is."""
    lengths = torch.stack(torch._foreach_norm(weights))
    slopes = torch.stack(torch._foreach_norm(gradients))
    ratios = group["trust"] * lengths / (slopes + group["weight_decay"] * lengths)
    whole = (lengths > 0) & (slopes > 0)
    rates = group["lr"] * torch.where(whole, ratios, torch.ones_like(ratios))
    return list(rates.unbind())
