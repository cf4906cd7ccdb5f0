"""Batch normalisation of maps that lie channels last on a CPU, against double precision."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from trainferry.train.networks import exact_norm
from trainferry.train.networks.exact_norm import batch_norm
from trainferry.train.networks.layers import BatchNorm
from trainferry.train.norms import OtherNorm, keep_norms_exact

SHAPES = [(2, 3, 64, 64), (3, 5, 70, 61), (8, 4, 33, 40)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_values_gradients_and_statistics_are_as_exact_as_with_channels_first(
    shape: tuple[int, ...],
) -> None:
    torch.manual_seed(0)
    features, wish = torch.randn(2, *shape).unbind()
    features = (features + 2).contiguous(memory_format=torch.channels_last)
    weight, bias = torch.rand(2, shape[1]).unbind()
    mine = train(batch_norm, [features, weight, bias], wish)
    given = [each.double() for each in (features, weight, bias)]
    for found, true in zip(mine, train(functional.batch_norm, given, wish.double()), strict=True):
        torch.testing.assert_close(found.double(), true, rtol=2e-5, atol=1e-5)


def test_many_values_leave_the_mean_exact() -> None:
    torch.manual_seed(0)
    features = torch.randn(24, 2, 128, 128) + 1
    features = features.contiguous(memory_format=torch.channels_last)
    true = features.double().mean((0, 2, 3))
    moved = []
    for normalise in (batch_norm, functional.batch_norm):
        mean, variance = torch.zeros(2), torch.ones(2)
        normalise(features, mean, variance, torch.ones(2), torch.zeros(2), True, 1.0, 1e-5)
        moved.append((mean.double() - true).abs().max())
    assert moved[0] < 1e-6
    assert moved[0] < 0.1 * moved[1]


@pytest.mark.parametrize("case", ["evaluation", "few pixels", "channels first", "double"])
def test_the_rest_is_left_to_torch(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(exact_norm, "_statistics")
    features = torch.randn(2, 3, 60, 60, dtype=torch.double if case == "double" else None)
    if case != "channels first":
        features = features.contiguous(memory_format=torch.channels_last)
    if case == "few pixels":
        features = features[:, :, :8, :8].contiguous(memory_format=torch.channels_last)
    ones = torch.ones(3, dtype=features.dtype)
    training = case != "evaluation"
    found = batch_norm(features, ones * 0, ones.clone(), ones, ones * 0, training, 0.1, 1e-5)
    expected = functional.batch_norm(
        features, ones * 0, ones.clone(), ones, ones * 0, training, 0.1, 1e-5
    )
    assert torch.equal(found, expected)


def test_norms_keep_their_weights_and_names() -> None:
    network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
    before = {name: tensor.data_ptr() for name, tensor in network.state_dict().items()}
    keep_norms_exact(network)
    assert isinstance(network[1], OtherNorm)
    assert {name: tensor.data_ptr() for name, tensor in network.state_dict().items()} == before


def train(normalise: BatchNorm, given: list[Tensor], wish: Tensor) -> list[Tensor]:
    """Return result, gradients and moved statistics."""
    trained = [each.clone(memory_format=torch.preserve_format).requires_grad_() for each in given]
    mean, variance = torch.zeros_like(given[1]), torch.ones_like(given[1])
    result = normalise(trained[0], mean, variance, *trained[1:], True, 0.3, 1e-3)
    return [result.detach(), *torch.autograd.grad(result, trained, wish), mean, variance]
