"""Copies of weights for a step: the same numbers, with and without channels of zeros."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from trainferry.train.networks.hrnet import HRNet
from trainferry.train.networks.resnet import ResNet
from trainferry.train.working_weights import WorkingWeights, roomy


@pytest.mark.parametrize(
    ("channels", "more"),
    [(8, 8), (18, 24), (30, 32), (36, 40), (60, 64), (72, 72), (120, 128), (144, 144), (240, 256)],
)
def test_channels_are_rounded_up_to_what_devices_like(channels: int, more: int) -> None:
    assert roomy(channels) == more


@pytest.mark.parametrize("width", [18, 30])
def test_channels_of_zeros_change_nothing(width: int) -> None:
    torch.manual_seed(0)
    plain, widened = (
        HRNet(5, width, head=16, modules=(1, 1, 1), blocks=1, norm_decay=0.9).double()
        for _ in range(2)
    )
    widened.load_state_dict(plain.state_dict())
    images, wish = torch.randn(4, 3, 64, 64).double(), torch.randn(4, 5).double()
    expected = plain(images)
    expected.backward(wish)
    working = WorkingWeights(widened, torch.float64)
    scores = working(images)
    scores.backward(wish)
    working.collect()
    torch.testing.assert_close(scores, expected)
    assert_same(gradients(widened), gradients(plain))
    assert_same(widened.state_dict(), plain.state_dict())


def test_half_precision_is_that_of_autocast() -> None:
    torch.manual_seed(0)
    plain, copied = (ResNet(5, size=18) for _ in range(2))
    copied.load_state_dict(plain.state_dict())
    images, wish = torch.randn(4, 3, 64, 64), torch.randn(4, 5)
    working = WorkingWeights(copied, torch.bfloat16)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        expected, scores = plain(images), working(images)
    expected.backward(wish)
    scores.backward(wish)
    working.collect()
    assert torch.equal(scores, expected)
    for name, gradient in gradients(plain).items():
        assert torch.equal(gradients(copied)[name], gradient), name


def test_the_next_step_sees_new_weights() -> None:
    torch.manual_seed(0)
    network = HRNet(5, 18, head=16, modules=(1, 1, 1), blocks=1).eval()
    working = WorkingWeights(network, torch.float32)
    images = torch.randn(2, 3, 64, 64)
    working(images)
    with torch.no_grad():
        for weight in network.parameters():
            weight.mul_(1.1)
    torch.testing.assert_close(working(images), network(images), rtol=1e-4, atol=1e-3)


def gradients(network: nn.Module) -> dict[str, Tensor]:
    return {name: each.grad for name, each in network.named_parameters() if each.grad is not None}


def assert_same(found: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    assert found.keys() == expected.keys()
    for name, tensor in expected.items():
        scale = float(tensor.abs().max()) if tensor.numel() else 0.0
        torch.testing.assert_close(found[name], tensor, rtol=0, atol=1e-9 * scale)
