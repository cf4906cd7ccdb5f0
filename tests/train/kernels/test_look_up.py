"""Rows of a table by their numbers, against torch's own."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from trainferry.train.networks.look_up import look_up

pytestmark = pytest.mark.cuda


def test_values_and_gradients_are_those_of_torch(kernel_device: torch.device) -> None:
    numbers = torch.tensor([[3, 0, 3], [1, 3, 0]], device=kernel_device)
    table = torch.randn(5, 7, device=kernel_device)
    mine, theirs = (table.clone().requires_grad_() for _ in range(2))
    rows, expected = look_up(numbers, mine), functional.embedding(numbers, theirs)
    assert torch.equal(rows, expected)
    wish = torch.randn_like(expected)
    rows.backward(wish)
    expected.backward(wish)
    torch.testing.assert_close(mine.grad, theirs.grad)
