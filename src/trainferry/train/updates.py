"""Updates with a rate that only the device knows.

They are those of `torch.optim`, which asks the device for the rate unless it is fused: a recorded
step may ask for nothing. What torch has for Adam in recordings divides by the rate, which may be 0.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


@torch.no_grad()
def move_by_momentum(optimizer: torch.optim.SGD) -> None:
    """Make the next update; there is a `momentum_buffer` of zeros before the first one."""
    for group in optimizer.param_groups:
        weights, changes = _learning(group["params"])
        if not weights:
            continue
        if group["weight_decay"]:
            changes = _sum(changes, weights, group["weight_decay"])
        if group["momentum"]:
            kept = [optimizer.state[weight]["momentum_buffer"] for weight in weights]
            torch._foreach_mul_(kept, group["momentum"])
            torch._foreach_add_(kept, changes)
            changes = _sum(changes, kept, group["momentum"]) if group["nesterov"] else kept
        torch._foreach_sub_(weights, torch._foreach_mul(changes, group["lr"]))


@torch.no_grad()
def move_by_adam(optimizer: torch.optim.Adam | torch.optim.AdamW) -> None:
    """Make the next update; there are averages of zeros, and a step of 0, before the first one."""
    decoupled = isinstance(optimizer, torch.optim.AdamW)
    for group in optimizer.param_groups:
        weights, gradients = _learning(group["params"])
        if not weights:
            continue
        rate, decay, (first, second) = group["lr"], group["weight_decay"], group["betas"]
        if decay and decoupled:
            torch._foreach_mul_(weights, 1 - rate * decay)
        elif decay:
            gradients = _sum(gradients, weights, decay)
        steps, means, squares = (
            [optimizer.state[weight][name] for weight in weights]
            for name in ("step", "exp_avg", "exp_avg_sq")
        )
        torch._foreach_add_(steps, 1)
        torch._foreach_lerp_(means, gradients, 1 - first)
        torch._foreach_mul_(squares, second)
        torch._foreach_addcmul_(squares, gradients, gradients, value=1 - second)
        lengths = torch._foreach_sqrt(squares)
        torch._foreach_mul_(lengths, _taken_in(second, steps[0]).rsqrt())
        torch._foreach_add_(lengths, group["eps"])
        changes = torch._foreach_div(means, lengths)
        factor = rate / _taken_in(first, steps[0])
        torch._foreach_sub_(weights, torch._foreach_mul(changes, factor))


def _taken_in(beta: float, step: Tensor) -> Tensor:
    """Return 1 - beta ** step, what an average that began with zero has seen; exact in float32."""
    return -torch.expm1(step * math.log(beta)) if beta else torch.ones_like(step)


def _learning(weights: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """Return the weights that have a gradient, and these."""
    learning = [weight for weight in weights if weight.grad is not None]
    return learning, [weight.grad for weight in learning if weight.grad is not None]


def _sum(some: list[Tensor], others: list[Tensor], factor: float) -> list[Tensor]:
    return list(torch._foreach_add(some, others, alpha=factor))
