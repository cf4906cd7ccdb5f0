"""The max pooling kernel against torch's own, values and gradients."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from trainferry.train.kernels.max_pool import MaxPool, Windows

pytestmark = pytest.mark.cuda

WINDOWS = {
    "2x2": Windows((2, 2), (2, 2)),
    "2x1": Windows((2, 1), (2, 1)),
    "3x3 every second": Windows((3, 3), (2, 2)),
    "3x3 padded behind": Windows((3, 3), (2, 2), bottom=1, right=1),
    "3x3 padded around": Windows((3, 3), (2, 2), 1, 1, 1, 1),
    "3x3 side by side": Windows((3, 3), (1, 1), 1, 1, 1, 1),
    "with gaps": Windows((2, 2), (3, 3)),
}


@pytest.mark.parametrize("windows", WINDOWS.values(), ids=WINDOWS.keys())
@pytest.mark.parametrize("channels", [1, 5, 130])
def test_values_and_gradients_are_those_of_torch(
    kernel_device: torch.device, windows: Windows, channels: int
) -> None:
    torch.manual_seed(2)
    # Few different values, so that windows have equals in them.
    images = torch.randint(-3, 4, (2, channels, 9, 7), device=kernel_device).float()
    images = images.contiguous(memory_format=torch.channels_last)
    mine, theirs = (images.clone().requires_grad_() for _ in range(2))
    pooled, expected = MaxPool.apply(mine, windows), plain(theirs, windows)
    assert torch.equal(pooled, expected)
    wish = torch.randn_like(expected)
    pooled.backward(wish)
    expected.backward(wish)
    assert mine.grad is not None
    torch.testing.assert_close(mine.grad, theirs.grad)


def test_what_is_no_number_wins(kernel_device: torch.device) -> None:
    images = torch.tensor([[[[1.0, math.nan], [3.0, 2.0]]]], device=kernel_device)
    assert MaxPool.apply(images, WINDOWS["2x2"]).isnan().all()


def plain(images: Tensor, windows: Windows) -> Tensor:
    sides = [windows.left, windows.right, windows.top, windows.bottom]
    padded = functional.pad(images, sides, value=-math.inf)
    return functional.max_pool2d(padded, windows.size, windows.stride)
