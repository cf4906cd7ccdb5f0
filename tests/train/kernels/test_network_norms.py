"""Networks whose norms run as kernels against the same networks with norms of torch."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from trainferry.train.kernels.dense import GrowingMap
from trainferry.train.networks import exact_norm, inception_v3
from trainferry.train.networks.densenet import _DenseBlock
from trainferry.train.networks.hrnet import _BasicBlock, _Bottleneck, _Module
from trainferry.train.networks.inception_v3_parts import _conv, _first, _pooled
from trainferry.train.networks.layers import DebiasedNorm, apply_norm, both, norm_for_kernels
from trainferry.train.networks.resnet import Variant, Version, _Block, _Kind
from trainferry.train.networks.view_norm import ViewNorm
from trainferry.train.norms import OtherNorm


class _Between(nn.Module):
    """A dense block and the norm behind it, as DenseNet runs them on a device with kernels."""

    def __init__(self, norm: Callable[[int], nn.BatchNorm2d], inputs: int = 12) -> None:
        super().__init__()
        self.block = _DenseBlock(inputs, 3, 8, norm)
        self.norm = norm(inputs + 24)

    def forward(self, features: Tensor) -> Tensor:
        if norm_for_kernels(self.norm, features) is None:
            return apply_norm(self.norm, self.block(features))
        return self.block.grow(features, self.norm)


class _Branches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fused = _Module(6, 3, 1)

    def forward(self, features: Tensor) -> Tensor:
        maps = [features[..., ::step, ::step].repeat(1, step, 1, 1) for step in (1, 2, 4)]
        return torch.cat([one.mean(dim=(2, 3)) for one in self.fused(maps)], dim=1)


class _Mixed(nn.Module):
    """Branches of Inception that are joined, the last of each with a map as large as the first."""

    def __init__(self) -> None:
        super().__init__()
        branches = (
            (_first(8),),
            (_first(4), _conv("Conv2d_0b_5x5", 8)),
            (_first(4), _conv("Conv2d_0b_3x3", 12), _conv("Conv2d_0c_3x3", 12)),
            _pooled(6),
        )
        self.block = inception_v3._Block(12, branches, views=3)

    def forward(self, features: Tensor) -> Tensor:
        for norm in self.modules():
            if isinstance(norm, ViewNorm):
                norm.seen = features.new_zeros(2, 3, len(norm.bias))
        joined: Tensor = self.block(features)
        return joined


class _Chain(nn.Module):
    """Blocks behind each other: each but the first reads what the one before made twice."""

    def __init__(self, *blocks: nn.Module) -> None:
        super().__init__()
        self.blocks = nn.Sequential(*blocks)

    def forward(self, features: Tensor) -> Tensor:
        return both(self.blocks(features)).first


def _kind(version: Version = 1, variant: Variant = "official") -> _Kind:
    return _Kind(version, variant, norm_decay=0.9)


def _residual(variant: Variant = "official") -> nn.Module:
    kind = _kind(1, variant)
    shrinking = _Block((12, 4, 4, 16), 2, kind, projects=True)
    plain = (_Block((16, 4, 4, 16), 1, kind, projects=False) for _ in range(2))
    return _Chain(shrinking, *plain)


NETWORKS = {
    "resnet": (_residual, 12),
    "resnet version 2": (lambda: _Block((12, 4, 4, 12), 1, _kind(2), projects=True), 12),
    "resnet of the zoo": (lambda: _residual("zoo"), 12),
    "densenet": (lambda: _Between(nn.BatchNorm2d), 12),
    "densenet, narrow tiles": (lambda: _Between(nn.BatchNorm2d, 16), 16),
    "densenet, debiased": (lambda: _Between(lambda size: DebiasedNorm(size, 1e-3, 0.9)), 12),
    "hrnet": (lambda: _Chain(_Bottleneck(12, 16), _Bottleneck(16, 16), _BasicBlock(16)), 12),
    "hrnet's branches": (_Branches, 6),
    "inception's branches": (_Mixed, 12),
}


@pytest.mark.cuda
@pytest.mark.parametrize(("build", "channels"), NETWORKS.values(), ids=NETWORKS.keys())
def test_a_network_learns_the_same_with_kernels(
    kernel_device: torch.device, build: Callable[[], nn.Module], channels: int
) -> None:
    torch.manual_seed(0)
    ours = build().to(kernel_device)
    plain = copy.deepcopy(ours).double()
    for norm in plain.modules():
        norm.register_forward_hook(lambda *_: None)  # what is watched runs by itself
    images = torch.randn(3, channels, 8, 8, device=kernel_device)
    wish = torch.randn_like(ours(images))
    plain(images.double())
    results = []
    for network, wide in ((ours, torch.float32), (plain, torch.float64)):
        features = images.to(wide, copy=True).requires_grad_()
        results.append(network(features))
        results[-1].backward(wish.to(wide))
        assert features.grad is not None
        results.append(features.grad)
    close(results[0], results[2])
    close(results[1], results[3])
    for mine, theirs in zip(ours.parameters(), plain.parameters(), strict=True):
        assert mine.grad is not None
        assert theirs.grad is not None
        close(mine.grad, theirs.grad)
    for kept, moved in zip(ours.buffers(), plain.buffers(), strict=True):
        close(kept, moved)


@pytest.mark.cuda
def test_views_are_normalised_by_themselves(kernel_device: torch.device) -> None:
    norm = ViewNorm(10, views=2).to(kernel_device)
    features = torch.randn(6, 10, 3, 3, device=kernel_device)
    norm.seen = torch.zeros(2, 2, 10, device=kernel_device)
    found = apply_norm(norm, features)
    seen, norm.seen = norm.seen, torch.zeros_like(norm.seen)
    close(found, torch.relu(norm(features)))
    close(seen, norm.seen)


@pytest.mark.cuda
def test_only_norms_that_nobody_watches_run_as_kernels(kernel_device: torch.device) -> None:
    features = torch.randn(2, 4, 3, 3, device=kernel_device)
    norm = nn.BatchNorm2d(4).to(kernel_device)
    assert norm_for_kernels(norm, features) is not None
    assert norm_for_kernels(norm, features.double()) is None
    assert norm_for_kernels(norm, features[:1, :, :1, :1]) is None
    assert norm_for_kernels(OtherNorm(norm, exact_norm.batch_norm), features) is None
    assert norm_for_kernels(copy.deepcopy(norm).eval(), features) is None
    norm.register_forward_hook(lambda *_: None)
    assert norm_for_kernels(norm, features) is None


@pytest.mark.cuda
def test_a_map_can_be_released_after_its_backward_pass(kernel_device: torch.device) -> None:
    features = torch.randn(2, 4, 3, 3, device=kernel_device, requires_grad=True)
    norm = norm_for_kernels(nn.BatchNorm2d(4).to(kernel_device), features)
    assert norm is not None
    grown = GrowingMap(features, 4)
    grown.normalise(norm).sum().backward()
    assert grown.gradients._sums is None


def close(mine: Tensor, theirs: Tensor) -> None:
    scale = theirs.double().abs().max().item() + 1e-6
    torch.testing.assert_close(mine.double(), theirs.double(), rtol=0, atol=2e-4 * scale)
