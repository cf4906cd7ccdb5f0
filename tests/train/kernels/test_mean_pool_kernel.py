"""Averages of neighbours by a kernel and without, against torch's own."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from trainferry.devices import kernels
from trainferry.train.kernels.mean_pool import mean_of_neighbours

SHAPES = [(2, 5, 6, 7), (1, 33, 1, 1), (2, 3, 1, 4), (1, 130, 5, 2)]


@pytest.mark.cuda
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_values_and_gradients_are_those_of_torch(
    kernel_device: torch.device, shape: tuple[int, ...]
) -> None:
    check(shape, kernel_device)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_without_kernels_they_are_too(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...]
) -> None:
    monkeypatch.setattr(kernels, "_has_triton", lambda: False)
    check(shape, torch.device("cpu"))


@pytest.mark.cuda
def test_without_kernels_a_gpu_gives_them_too(
    monkeypatch: pytest.MonkeyPatch, kernel_device: torch.device
) -> None:
    monkeypatch.setattr(kernels, "_has_triton", lambda: False)
    check((2, 5, 6, 7), kernel_device)


def check(shape: tuple[int, ...], device: torch.device) -> None:
    """Compare with maps whose channels lie first: torch's way back is wrong for others on CUDA."""
    torch.manual_seed(2)
    features = torch.randn(shape, device=device)
    mine = features.contiguous(memory_format=torch.channels_last).clone().requires_grad_()
    theirs = features.clone().requires_grad_()
    averages = mean_of_neighbours(mine)
    expected = functional.avg_pool2d(theirs, 3, 1, 1, count_include_pad=False)
    torch.testing.assert_close(averages, expected)
    wish = torch.randn_like(expected)
    averages.backward(wish.contiguous(memory_format=torch.channels_last))
    expected.backward(wish)
    torch.testing.assert_close(mine.grad, theirs.grad)
