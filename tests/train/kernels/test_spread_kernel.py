"""A small map added to a large one by a kernel, against torch's operators."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from trainferry.train.kernels.spread import (
    _AddSpread,
    _MeanOfSquares,
    add_spread,
    mean_of_squares,
    reference,
)

pytestmark = pytest.mark.cuda


@pytest.mark.parametrize("rectified", [True, False])
@pytest.mark.parametrize("factor", [2, 4])
@pytest.mark.parametrize("channels", [3, 24, 130])
def test_values_and_gradients_are_those_of_torch(
    kernel_device: torch.device, channels: int, factor: int, rectified: bool
) -> None:
    torch.manual_seed(3)
    large = torch.randn(2, channels, 3 * factor, 2 * factor, device=kernel_device)
    small = torch.randn(2, channels, 3, 2, device=kernel_device)
    mine, theirs = ([each.clone().requires_grad_() for each in (large, small)] for _ in range(2))
    result = _AddSpread.apply(mine[0], mine[1], factor, rectified)
    expected = reference(theirs[0], theirs[1], factor, rectified=rectified)
    torch.testing.assert_close(result, expected)
    wish = torch.randn_like(expected)
    result.backward(wish)
    expected.backward(wish)
    for one, other in zip(mine, theirs, strict=True):
        torch.testing.assert_close(gradient(one), gradient(other))


@pytest.mark.parametrize("size", [(6, 4), (7, 5)])
@pytest.mark.parametrize("channels", [3, 130])
def test_averages_are_those_of_torch(
    kernel_device: torch.device, channels: int, size: tuple[int, int]
) -> None:
    torch.manual_seed(3)
    mine = torch.randn(2, channels, *size, device=kernel_device, requires_grad=True)
    theirs = mine.detach().clone().requires_grad_()
    result, expected = _MeanOfSquares.apply(mine, 2), functional.avg_pool2d(theirs, 2)
    torch.testing.assert_close(result, expected)
    wish = torch.randn_like(expected)
    result.backward(wish)
    expected.backward(wish)
    torch.testing.assert_close(gradient(mine), gradient(theirs))


@pytest.mark.parametrize("learns", [True, False])
def test_maps_meet_whoever_adds_them(kernel_device: torch.device, learns: bool) -> None:
    torch.manual_seed(3)
    large = torch.randn(1, 8, 6, 4, device=kernel_device, requires_grad=True)
    small = torch.randn(1, 8, 3, 2, device=kernel_device)
    with torch.set_grad_enabled(learns):
        total, mean = add_spread(large, small, 2, rectified=True), mean_of_squares(large, 2)
    torch.testing.assert_close(total, reference(large, small, 2, rectified=True))
    torch.testing.assert_close(mean, functional.avg_pool2d(large, 2))
    assert total.requires_grad == mean.requires_grad == learns


def gradient(tensor: Tensor) -> Tensor:
    assert tensor.grad is not None
    return tensor.grad
