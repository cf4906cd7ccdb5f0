"""Gradients of a map with several readers, added up by a kernel."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from trainferry.train.kernels.fan_out import fan_out

pytestmark = pytest.mark.cuda


@pytest.mark.parametrize("readers", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("silent", [0, 1, 2])
def test_gradients_of_all_who_read_are_added_up(
    kernel_device: torch.device, readers: int, silent: int
) -> None:
    features = torch.randn(2, 5, 6, 7, device=kernel_device, requires_grad=True)
    given = fan_out(features, readers)
    assert len(given) == readers
    if silent >= readers:
        return
    expected = torch.zeros_like(features)
    total = torch.zeros((), device=kernel_device)
    for number, one in enumerate(given[silent:]):
        assert torch.equal(one, features)
        wish = torch.randn_like(features)
        if number % 2:
            wish = wish.contiguous(memory_format=torch.channels_last)
        expected += wish
        total = total + (one * wish).sum()
    total.backward()
    torch.testing.assert_close(features.grad, expected)


def test_sums_are_rounded_once(kernel_device: torch.device) -> None:
    features = torch.zeros(1, 1, 1, 1, device=kernel_device).half().requires_grad_()
    wishes = (2048.0, 1.0, 1.0)  # rounded in between, 2048 stays 2048
    parts: list[Tensor] = [
        one * wish for one, wish in zip(fan_out(features, 3), wishes, strict=True)
    ]
    torch.stack(parts).sum().backward()
    assert features.grad is not None
    assert features.grad.item() == 2050.0


def test_what_does_not_learn_is_given_as_it_is(kernel_device: torch.device) -> None:
    features = torch.zeros(1, 2, 3, 4, device=kernel_device)
    assert all(one is features for one in fan_out(features, 4))
