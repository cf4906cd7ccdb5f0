"""Updates with a rate on the device, against torch's with the same rate as a number."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.optim import SGD, Adam, AdamW

from trainferry.train.optimizer import advance, let_record, set_learning_rate, start_state

RATES = (0.0, 0.1, 0.03, 0.0, 0.2)
KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "plain": (SGD, {"momentum": 0.0, "weight_decay": 0.01}),
    "momentum": (SGD, {"momentum": 0.9, "weight_decay": 0.01}),
    "nesterov": (SGD, {"momentum": 0.9, "nesterov": True}),
    "adam": (Adam, {"betas": (0.8, 0.95), "weight_decay": 0.1, "eps": 1e-6}),
    "adamw": (AdamW, {"betas": (0.9, 0.999), "weight_decay": 0.1, "eps": 1e-8}),
    "adam without a mean": (Adam, {"betas": (0.0, 0.99), "eps": 1e-8}),
}


def weights_on(device: torch.device) -> list[Tensor]:
    torch.manual_seed(0)
    shapes = [(4, 3), (5,), (2,), (3,)]
    return [torch.randn(each).double().to(device).requires_grad_() for each in shapes]


def put_gradients(weights: list[Tensor], step: int) -> None:
    """The third learns nothing, ever; the last has no gradient at all."""
    stream = torch.Generator().manual_seed(step)
    for number, weight in enumerate(weights[:3]):
        drawn = torch.randn(weight.shape, generator=stream).double() * (number != 2)
        weight.grad = drawn.to(weight.device)


@pytest.mark.parametrize(("kind", "options"), KINDS.values(), ids=KINDS.keys())
def test_weights_move_as_with_torch(
    kind: Any, options: dict[str, Any], emulated_npu: torch.device
) -> None:
    mine, theirs = weights_on(emulated_npu), weights_on(torch.device("cpu"))
    optimizer, expected = (
        kind([{"params": some[:2]}, {"params": some[2:], "weight_decay": 0.0}], lr=1.0, **options)
        for some in (mine, theirs)
    )
    start_state(optimizer)
    let_record(optimizer)
    rate = torch.zeros((), device=emulated_npu, dtype=torch.float64)
    set_learning_rate(optimizer, rate)
    for step, value in enumerate(RATES):
        rate.fill_(value)
        set_learning_rate(expected, value)
        for weights in (mine, theirs):
            put_gradients(weights, step)
        advance(optimizer)
        expected.step()
    for one, other in zip(mine, theirs, strict=True):
        torch.testing.assert_close(one.cpu(), other, rtol=1e-6, atol=1e-8)
    if "betas" in options:
        steps = [optimizer.state[weight]["step"] for weight in mine[:3]]
        assert [(each.device, float(each)) for each in steps] == [(emulated_npu, 5.0)] * 3
