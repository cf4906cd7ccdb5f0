"""Averages of neighbours by a kernel, against torch's own."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from trainferry.train.kernels.mean_pool import mean_of_neighbours

pytestmark = pytest.mark.cuda


@pytest.mark.parametrize(
    "shape", [(2, 5, 6, 7), (1, 33, 1, 1), (2, 3, 1, 4), (1, 130, 5, 2)], ids=str
)
def test_values_and_gradients_are_those_of_torch(
    kernel_device: torch.device, shape: tuple[int, ...]
) -> None:
    torch.manual_seed(2)
    features = torch.randn(shape, device=kernel_device)
    features = features.contiguous(memory_format=torch.channels_last)
    mine, theirs = (features.clone().requires_grad_() for _ in range(2))
    averages = mean_of_neighbours(mine)
    expected = functional.avg_pool2d(theirs, 3, 1, 1, count_include_pad=False)
    torch.testing.assert_close(averages, expected)
    wish = torch.randn_like(expected)
    averages.backward(wish)
    expected.backward(wish)
    torch.testing.assert_close(mine.grad, theirs.grad)
