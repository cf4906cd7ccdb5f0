"""The cross-entropy with smoothed labels by kernels, against many operators."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from trainferry.train.kernels.smoothed import reference, smoothed_losses

pytestmark = pytest.mark.cuda


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])
@pytest.mark.parametrize("shape", [(3, 5, 7), (2, 134), (1, 1, 1), (70, 2, 300)], ids=str)
def test_losses_and_gradients_are_those_of_many_operators(
    kernel_device: torch.device, shape: tuple[int, ...], smoothing: float
) -> None:
    torch.manual_seed(1)
    scores = 20 * torch.randn(shape, device=kernel_device) + 100
    labels = torch.randint(shape[-1], shape[:-1], device=kernel_device)
    wish = torch.randn(shape[:-1], device=kernel_device, dtype=torch.float64)
    found: list[tuple[Tensor, Tensor]] = []
    for lose, given in ((smoothed_losses, scores), (reference, scores.double())):
        leaf = given.clone().requires_grad_()
        losses = lose(leaf, labels, smoothing)
        losses.backward(wish.to(losses.dtype))
        assert leaf.grad is not None
        found.append((losses.detach().double(), leaf.grad.double()))
    torch.testing.assert_close(found[0], found[1], rtol=1e-5, atol=2e-5)


def test_gradients_have_the_format_of_the_scores(kernel_device: torch.device) -> None:
    scores = torch.randn(4, 9, device=kernel_device).half().requires_grad_()
    losses = smoothed_losses(scores, torch.arange(4, device=kernel_device), 0.1)
    losses.sum().backward()
    assert losses.dtype == torch.float32
    assert scores.grad is not None
    assert scores.grad.dtype == torch.float16


def test_what_is_no_number_stays_so(kernel_device: torch.device) -> None:
    scores = torch.zeros(2, 3, device=kernel_device)
    scores[0, 1] = float("nan")
    losses = smoothed_losses(scores, torch.zeros(2, dtype=torch.int64, device=kernel_device), 0.1)
    assert losses.isnan().tolist() == [True, False]


def test_a_class_that_cannot_be_costs_nothing_without_smoothing(
    kernel_device: torch.device,
) -> None:
    scores = torch.tensor([[1.0, 2.0, float("-inf"), 0.5]], device=kernel_device)
    label = torch.tensor([1], device=kernel_device)
    found = smoothed_losses(scores, label, 0.0)
    torch.testing.assert_close(found, reference(scores, label, 0.0))
    assert smoothed_losses(scores, label, 0.1).isinf().all()


@pytest.mark.parametrize("label", [-1, 5, 9])
def test_a_class_that_there_is_not_has_no_loss(kernel_device: torch.device, label: int) -> None:
    labels = torch.tensor([label, 4], device=kernel_device)
    losses = smoothed_losses(torch.zeros(2, 5, device=kernel_device), labels, 0.1)
    assert losses.isnan().tolist() == [True, False]


def test_no_rows_have_no_losses(kernel_device: torch.device) -> None:
    nothing = torch.zeros(0, 5, 3, device=kernel_device)
    labels = torch.zeros(0, 5, dtype=torch.int64, device=kernel_device)
    assert smoothed_losses(nothing, labels, 0.1).shape == (0, 5)
