"""A norm that leaves out the bias before it, against one that adds it, in float64."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from trainferry.train.kernels.bias import normalise_biased, reference
from trainferry.train.kernels.norm_passes.values import Norm
from trainferry.train.networks.crnn import CRNN, HEIGHT

pytestmark = pytest.mark.cuda

SHAPES = [(2, 7, 3, 5), (4, 18, 7, 7), (3, 64, 2, 9)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("rectified", [True, False])
def test_values_gradients_and_statistics_are_those_with_the_bias(
    kernel_device: torch.device, shape: tuple[int, ...], rectified: bool
) -> None:
    torch.manual_seed(3)
    features, wish = (torch.randn(shape, device=kernel_device) for _ in range(2))
    bias, weight, shift = (torch.randn(shape[1], device=kernel_device) for _ in range(3))
    facts = []
    for kind, compute in ((torch.float32, normalise_biased), (torch.float64, reference)):
        given = [
            each.detach().to(kind, copy=True).requires_grad_()
            for each in (features, bias, weight, shift)
        ]
        norm = make_norm(given[2], given[3])
        result = compute(given[0], given[1], norm, rectified=rectified)
        result.backward(wish.to(kind))
        facts.append([result.detach(), norm.mean, norm.variance, *map(gradient_of, given)])
    for mine, theirs in zip(*facts, strict=True):
        torch.testing.assert_close(mine.double(), theirs, rtol=2e-5, atol=2e-5)


def test_the_gradient_of_the_bias_is_zero_and_no_rounding(kernel_device: torch.device) -> None:
    features = torch.randn(2, 8, 3, 3, device=kernel_device, dtype=torch.bfloat16)
    bias, weight, shift = (torch.ones(8, device=kernel_device) for _ in range(3))
    bias.requires_grad_()
    result = normalise_biased(features, bias, make_norm(weight, shift), rectified=True)
    result.square().sum().backward()
    assert gradient_of(bias).tolist() == [0.0] * 8


def test_a_mean_without_its_start_is_not_taken(kernel_device: torch.device) -> None:
    features = torch.randn(2, 4, 3, 3, device=kernel_device)
    ones = torch.ones(4, device=kernel_device)
    norm = replace(make_norm(ones, ones), debiased=torch.zeros_like(ones))
    with pytest.raises(AssertionError):
        normalise_biased(features, ones, norm, rectified=True)


def test_crnn_learns_the_same_with_kernels(kernel_device: torch.device) -> None:
    torch.manual_seed(0)
    ours = CRNN(5, channels=(4, 6, 4, 4, 6, 6, 8), hidden=8, dropout=0.0).to(kernel_device)
    with torch.no_grad():
        for number in (1, 2):
            ours.convolutions.get_parameter(f"conv{number}.bias").normal_()
    plain = copy.deepcopy(ours).double()
    images = torch.randn(3, 3, HEIGHT, 16, device=kernel_device)
    wish = torch.randn(3, 4, 5, device=kernel_device)
    scores, expected = ours(images), plain(images.double())
    scores.backward(wish)
    expected.backward(wish.double())
    close(scores.detach(), expected.detach())
    for mine, theirs in zip(ours.parameters(), plain.parameters(), strict=True):
        close(gradient_of(mine), gradient_of(theirs))
    for kept, moved in zip(ours.buffers(), plain.buffers(), strict=True):
        close(kept, moved)


def test_what_is_watched_runs_by_itself(kernel_device: torch.device) -> None:
    network = CRNN(5, channels=(4,) * 7, hidden=4).to(kernel_device)
    seen = []
    for name in ("convolutions.conv1", "convolutions.conv2", "recurrence"):
        network.get_submodule(name).register_forward_hook(
            lambda _, __, outputs, name=name: seen.append((name, outputs))
        )
    network(torch.randn(2, 3, HEIGHT, 8, device=kernel_device))
    assert [name for name, _ in seen] == ["convolutions.conv1", "convolutions.conv2", "recurrence"]
    assert not seen[-1][1][0].is_contiguous()  # torch's own, which lies in the order of time


def make_norm(weight: Tensor, bias: Tensor) -> Norm:
    mean, variance = torch.linspace(-1, 1, len(weight)), torch.ones(len(weight))
    return Norm(weight, bias, mean.to(weight), variance.to(weight), momentum=0.3, epsilon=1e-3)


def gradient_of(tensor: Tensor) -> Tensor:
    assert tensor.grad is not None
    return tensor.grad


def close(mine: Tensor, theirs: Tensor) -> None:
    scale = theirs.double().abs().max().item() + 1e-2
    torch.testing.assert_close(mine.double(), theirs.double(), rtol=0, atol=5e-4 * scale)
