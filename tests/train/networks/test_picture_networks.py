"""ResNet, DenseNet and HRNet in all their sizes, and the layers they are built from."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torch.nn import functional

from trainferry.train.networks.densenet import DenseNet, _Transition
from trainferry.train.networks.hrnet import HRNet
from trainferry.train.networks.layers import (
    DebiasedNorm,
    SameConvolution,
    SameMaxPool,
    apply_norm,
    pad_same,
    pool_normalised,
    start_scaled,
)
from trainferry.train.networks.resnet import ResNet, Version
from trainferry.train.networks.sizes import RESNET_BLOCKS
from trainferry.train.tf_checkpoint.names_densenet import densenet_mappings
from trainferry.train.tf_checkpoint.names_resnet import resnet_mappings


@pytest.mark.parametrize(
    ("size", "version", "count"),
    [
        (18, 1, 11_694_249),
        (34, 1, 21_802_409),
        (50, 1, 25_559_081),
        (101, 1, 44_551_209),
        (152, 1, 60_194_857),
        (200, 1, 64_675_881),
        (50, 2, 25_551_401),
        (101, 2, 44_543_529),
        (152, 2, 60_187_177),
        (200, 2, 64_668_201),
    ],
)
def test_resnets_have_the_weights_of_the_originals(size: int, version: Version, count: int) -> None:
    with torch.device("meta"):
        assert weights_of(ResNet(1001, size, version)) == count


@pytest.mark.parametrize("size", [50, 101, 152, 200])
def test_every_weight_of_the_zoos_resnet_has_a_name_in_tensorflow(size: int) -> None:
    with torch.device("meta"):
        network = ResNet(1001, size, variant="zoo")
    mappings = resnet_mappings(size, 1, "zoo")
    assert sorted(name for one in mappings for name in one.ours) == sorted(stored(network))
    assert mappings[1].tensorflow == "fp32_vars/conv2d_1/kernel"
    assert "fp32_vars/BatchNorm_7/moving_variance" in {one.tensorflow for one in mappings}


def test_blocks_of_the_zoos_resnet_begin_as_if_they_were_not_there() -> None:
    block = ResNet(5, width=4, variant="zoo").stages[0][1]  # type: ignore[index]  # a block
    features = torch.rand(2, 16, 6, 6)
    assert torch.equal(block(features), features)


def test_strided_convolutions_of_the_zoos_resnet_pad_behind_alone() -> None:
    block = ResNet(5, width=4, variant="zoo").stages[1][0]  # type: ignore[index]  # a block
    strided = block.convolutions[1]
    features = torch.randn(1, 8, 6, 6)
    expected = functional.conv2d(functional.pad(features, (0, 1, 0, 1)), strided.weight, stride=2)
    torch.testing.assert_close(strided(features), expected)


def test_densenet_and_hrnet_have_the_weights_of_the_originals() -> None:
    with torch.device("meta"):
        assert weights_of(DenseNet(1000)) == 7_978_728
        assert weights_of(HRNet(1001, 18)) == 21_297_213
        assert weights_of(HRNet(1001, 30)) == 37_710_429


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("size", RESNET_BLOCKS)
def test_every_weight_of_a_resnet_has_a_name_in_tensorflow(size: int, version: Version) -> None:
    with torch.device("meta"):
        network = ResNet(1001, size, version)
    mapped = [name for one in resnet_mappings(size, version) for name in one.ours]
    assert sorted(mapped) == sorted(stored(network))


@pytest.mark.parametrize("size", [121, 169, 201])
def test_every_weight_of_a_densenet_has_a_name_in_tensorflow(size: int) -> None:
    with torch.device("meta"):
        network = DenseNet(1000, size)
    mapped = [name for one in densenet_mappings(size) for name in one.ours]
    assert sorted(mapped) == sorted(stored(network))


def test_padding_puts_the_odd_pixel_behind() -> None:
    images = torch.arange(16.0).reshape(1, 1, 4, 4)
    padded = pad_same(images, kernel=3, stride=2)
    assert padded.shape == (1, 1, 5, 5)
    assert torch.equal(padded[..., :4, :4], images)
    assert padded[..., 4, :].abs().sum() == padded[..., :, 4].abs().sum() == 0
    assert pad_same(images, kernel=7, stride=2).shape == (1, 1, 9, 9)
    assert pad_same(images, kernel=2, stride=2) is images


def test_a_strided_convolution_sees_what_tensorflow_sees() -> None:
    convolution = SameConvolution(1, 1, kernel=3, stride=2)
    nn.init.ones_(convolution.weight)
    sums = convolution(torch.ones(1, 1, 4, 4))
    assert torch.equal(sums, torch.tensor([[[[9.0, 6.0], [6.0, 4.0]]]]))


@pytest.mark.parametrize("stride", [1, 2])
def test_a_convolution_is_exported_for_any_number_of_pictures(stride: int) -> None:
    convolution = SameConvolution(8, 8, kernel=3, stride=stride)
    open_ended = {0: torch.export.Dim("pictures")}
    program = torch.export.export(
        convolution, (torch.zeros(2, 8, 16, 16),), dynamic_shapes=(open_ended,)
    )
    many = torch.zeros(600, 8, 16, 16)
    assert program.module()(many).shape == convolution(many).shape


def test_the_largest_of_a_window_is_never_the_padding() -> None:
    pooled = SameMaxPool(kernel=3, stride=2)(-torch.ones(1, 1, 4, 4))
    assert torch.equal(pooled, -torch.ones(1, 1, 2, 2))


def test_a_debiased_mean_is_right_from_the_first_step() -> None:
    norm = DebiasedNorm(2, epsilon=1e-3, decay=0.9)
    images = torch.randn(4, 2, 3, 3) + 5.0
    mean = images.mean(dim=(0, 2, 3))
    for _ in range(3):
        norm(images)
        assert norm.running_mean is not None
        assert torch.allclose(norm.running_mean, mean, atol=1e-5)
    norm.eval()
    expected = functional.batch_norm(
        images, norm.running_mean, norm.running_var, norm.weight, norm.bias, eps=1e-3
    )
    assert torch.equal(norm(images), expected)


def test_start_values_have_the_variance_asked_for() -> None:
    weight = torch.empty(64, 32, 3, 3)
    start_scaled(weight, scale=2.0, fan="out")
    assert weight.std().item() == pytest.approx(math.sqrt(2 / (64 * 9)), rel=0.02)
    assert weight.abs().max() <= 2 * math.sqrt(2 / (64 * 9)) / 0.8796


def weights_of(network: nn.Module) -> int:
    return sum(weight.numel() for weight in network.parameters())


def stored(network: nn.Module) -> list[str]:
    unnamed = ("num_batches_tracked", "biased", "local_step")
    return [name for name in network.state_dict() if not name.endswith(unnamed)]


def test_a_rectifier_behind_a_pool_gives_the_same_bits_as_one_before_it() -> None:
    values = torch.randn(2, 6, 9, 11)
    values[0, :, :4] = -1.0  # windows with nothing that is let through, and ties
    norm, pool = nn.BatchNorm2d(6), SameMaxPool(kernel=3, stride=2)
    found = []
    for behind in (False, True):
        images = values.clone().requires_grad_()
        result = pool_normalised(norm, images, pool) if behind else pool(apply_norm(norm, images))
        (result * torch.arange(result.numel()).view_as(result)).sum().backward()
        assert images.grad is not None
        found.append((result.detach(), images.grad))
    for before, after in zip(*found, strict=True):
        assert torch.equal(before, after)
    assert (found[0][0] == 0).any()


@pytest.mark.parametrize("size", [8, 9])
def test_a_transition_averages_before_it_convolves_as_if_it_did_so_behind(size: int) -> None:
    transition = _Transition(6, lambda channels: nn.BatchNorm2d(channels, eps=1e-5)).double()
    features = torch.randn(2, 6, size, size, dtype=torch.float64)
    expected = functional.avg_pool2d(transition.convolution(features), 2)
    torch.testing.assert_close(transition.shrink(features), expected, rtol=1e-12, atol=1e-12)
