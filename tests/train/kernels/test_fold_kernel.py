"""A first convolution on folded pictures, against torch's own."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from trainferry.train.kernels.fold import Padding, convolve_folded

pytestmark = pytest.mark.cuda

CASES = {
    "7x7 around": (7, Padding(3, 3, 3, 3)),
    "7x7 as TensorFlow": (7, Padding(2, 3, 2, 3)),
    "3x3 behind": (3, Padding(0, 1, 0, 1)),
    "3x3 before and behind": (3, Padding(1, 1, 1, 1)),
    "3x3 without": (3, Padding()),
    "uneven": (5, Padding(2, 1, 1, 0)),
}


@pytest.mark.parametrize(("kernel", "padding"), CASES.values(), ids=CASES.keys())
@pytest.mark.parametrize("size", [(12, 14), (13, 11)])
@pytest.mark.parametrize("memory", [torch.channels_last, torch.contiguous_format])
def test_values_and_gradients_are_those_of_torch(
    kernel_device: torch.device,
    kernel: int,
    padding: Padding,
    size: tuple[int, int],
    memory: torch.memory_format,
) -> None:
    torch.manual_seed(5)
    images = torch.randn(2, 3, *size, device=kernel_device).contiguous(memory_format=memory)
    weight = torch.randn(5, 3, kernel, kernel, device=kernel_device)
    mine, theirs = (weight.clone().requires_grad_() for _ in range(2))
    found = convolve_folded(images, mine, padding, torch.float32)
    sides = (padding.left, padding.right, padding.top, padding.bottom)
    expected = functional.conv2d(functional.pad(images, sides), theirs, stride=2)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
    wish = torch.randn_like(expected)
    found.backward(wish)
    expected.backward(wish)
    assert mine.grad is not None
    torch.testing.assert_close(mine.grad, theirs.grad, rtol=1e-4, atol=1e-4)
