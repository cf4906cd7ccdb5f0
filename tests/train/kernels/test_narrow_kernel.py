"""Convolutions with few channels, against torch's own."""

from __future__ import annotations

import gc
import weakref
from contextlib import nullcontext

import pytest
import torch
from torch import nn
from torch.nn import functional

from trainferry.devices.lanes import beside
from trainferry.train.kernels import narrow, norm
from trainferry.train.kernels.fold import Padding
from trainferry.train.kernels.narrow import Tiles, convolve_narrow, is_narrow
from trainferry.train.kernels.norm import normalise
from trainferry.train.kernels.norm_passes.values import Norm

pytestmark = pytest.mark.cuda

CASES = {
    "around": (1, Padding(1, 1, 1, 1)),
    "stride 2, behind": (2, Padding(0, 1, 0, 1)),
    "stride 2, around": (2, Padding(1, 1, 1, 1)),
    "uneven": (2, Padding(1, 1, 0, 1)),
}


@pytest.mark.parametrize(("stride", "padding"), CASES.values(), ids=CASES.keys())
@pytest.mark.parametrize("channels", [(8, 24), (24, 16), (40, 40)], ids=str)
@pytest.mark.parametrize("size", [(6, 8), (7, 5)], ids=str)
def test_values_and_gradients_are_those_of_torch(
    kernel_device: torch.device,
    monkeypatch: pytest.MonkeyPatch,
    stride: int,
    padding: Padding,
    channels: tuple[int, int],
    size: tuple[int, int],
) -> None:
    monkeypatch.setattr(narrow, "TILES_OF_WEIGHT", Tiles(16, 4))
    monkeypatch.setattr(narrow, "_PIXELS_EACH", 16)
    monkeypatch.setattr(narrow, "_SPLITS", 3)
    torch.manual_seed(5)
    images = torch.randn(3, channels[0], *size, device=kernel_device)
    images = images.contiguous(memory_format=torch.channels_last)
    weight = torch.randn(channels[1], channels[0], 3, 3, device=kernel_device)
    results, gradients = [], []
    for convolve in (convolve_narrow, convolve_padded):
        given = images.clone().requires_grad_(), weight.clone().requires_grad_()
        result = convolve(*given, stride, padding)
        wish = torch.linspace(-1, 1, result.numel(), device=kernel_device).view(result.shape)
        results.append(result.detach())
        gradients.append(torch.autograd.grad(result, given, wish.sin()))
    torch.testing.assert_close(results[0], results[1], rtol=1e-4, atol=1e-4)
    for mine, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-4)


def test_pictures_that_learn_nothing_get_no_gradient(kernel_device: torch.device) -> None:
    images = torch.randn(1, 8, 4, 4, device=kernel_device)
    weight = torch.randn(8, 8, 3, 3, device=kernel_device, requires_grad=True)
    convolve_narrow(images, weight, 1, Padding(1, 1, 1, 1)).sum().backward()
    assert weight.grad is not None
    assert images.grad is None


@pytest.mark.parametrize(
    ("fits", "convolution"),
    [
        (True, nn.Conv2d(24, 40, 3, bias=False)),
        (False, nn.Conv2d(24, 40, 1, bias=False)),
        (False, nn.Conv2d(24, 40, 3)),
        (False, nn.Conv2d(24, 72, 3, bias=False)),
        (False, nn.Conv2d(24, 18, 3, bias=False)),
    ],
    ids=str,
)
def test_only_what_is_narrow_is_taken(
    kernel_device: torch.device, fits: bool, convolution: nn.Conv2d
) -> None:
    images = torch.randn(1, 24, 4, 4, device=kernel_device)
    assert is_narrow(images.half(), convolution) == fits
    assert not is_narrow(images, convolution)
    with torch.no_grad():
        assert not is_narrow(images.half(), convolution)
    many = torch.empty(1, 24, 1, narrow.MOST_PIXELS + 1, device=kernel_device, dtype=torch.half)
    assert not is_narrow(many, convolution)


def test_a_normalised_map_is_made_again_and_not_kept(kernel_device: torch.device) -> None:
    """The weight learns the same, and until then only what the norm keeps is there."""
    torch.manual_seed(3)
    features = torch.randn(2, 8, 5, 6, device=kernel_device)
    features = features.contiguous(memory_format=torch.channels_last)
    weight, bias, mean, variance = torch.rand(4, 8, device=kernel_device) + 0.5
    made = Norm(weight, bias, mean, variance, momentum=0.1, epsilon=1e-3)
    found: list[tuple[torch.Tensor, ...]] = []
    for works in (nullcontext(), beside(kernel_device)):
        weight = torch.linspace(-1, 1, 8 * 8 * 9, device=kernel_device).view(8, 8, 3, 3)
        given, weight = features.clone().requires_grad_(), weight.requires_grad_()
        with works:
            normalised = normalise(given, made, rectified=True)
            kept = weakref.ref(normalised)
            result = convolve_narrow(normalised, weight, 1, Padding(1, 1, 1, 1))
            del normalised
            if found:
                gc.collect()
                assert kept() is None
            result.sin().sum().backward()
        assert given.grad is not None
        assert weight.grad is not None
        found.append((result.detach(), given.grad, weight.grad))
    for one, other in zip(*found, strict=True):
        assert torch.equal(one, other)


def test_a_map_that_another_lane_made_is_kept(
    kernel_device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it is made of may be gone by then: that lane alone decides when."""
    features = torch.randn(1, 8, 4, 4, device=kernel_device, requires_grad=True)
    weight, bias, mean, variance = torch.rand(4, 8, device=kernel_device) + 0.5
    made = Norm(weight, bias, mean, variance, momentum=0.1, epsilon=1e-3)
    normalised = normalise(features, made, rectified=True)
    assert norm.remake_of(normalised) is not None
    monkeypatch.setattr(norm, "current_lane", lambda _: "another")
    assert norm.remake_of(normalised) is None
    weight = torch.rand(8, 8, 3, 3, device=kernel_device, requires_grad=True)
    with beside(kernel_device):
        result = convolve_narrow(normalised, weight, 1, Padding(1, 1, 1, 1))
        kept = weakref.ref(normalised)
        del normalised
        gc.collect()
        assert kept() is not None
        result.sum().backward()
    assert weight.grad is not None


def convolve_padded(
    images: torch.Tensor, weight: torch.Tensor, stride: int, padding: Padding
) -> torch.Tensor:
    sides = (padding.left, padding.right, padding.top, padding.bottom)
    return functional.conv2d(functional.pad(images, sides), weight, stride=stride)
