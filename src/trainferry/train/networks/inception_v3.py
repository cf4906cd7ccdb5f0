"""Inception-v3 up to any of its endpoints: branches of different reach look at the same map.

Szegedy, Vanhoucke, Ioffe, Shlens and Wojna, 2015, https://arxiv.org/abs/1512.00567, in the form
of TensorFlow's slim library. All parts are called as they are there, oddities included, so that a
name in a checkpoint is the path of a part: Mixed_5c and Mixed_6a do not follow the others, and
what is called Conv2d_1a_1x1 is three pixels wide.

Shapes: V views of each of B samples, one view after the other in the batch; C channels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from trainferry.devices.lanes import side_by_side
from trainferry.devices.precision import working_half
from trainferry.errors import RecipeError
from trainferry.train.kernels.fan_out import fan_out
from trainferry.train.kernels.fold import Padding, convolve_folded, folds
from trainferry.train.kernels.joined import join
from trainferry.train.kernels.max_pool import Windows
from trainferry.train.kernels.mean_pool import mean_of_neighbours
from trainferry.train.kernels.norm_passes.values import Norm
from trainferry.train.kernels.rows import new_rows
from trainferry.train.networks.convolve import LateConvolution
from trainferry.train.networks.layers import (
    BatchNorm,
    apply_norm,
    is_watched,
    norm_for_kernels,
    start_scaled,
)
from trainferry.train.networks.pool import WindowMax

EPSILON = 1e-3


@dataclass(frozen=True)
class Convolution:
    """A convolution with norm and ReLU; padded as SAME unless it shrinks the map.

    `pooled` ones see the averages of 3x3 pixels.
    """

    name: str
    channels: int
    kernel: tuple[int, int]
    stride: int = 1
    padded: bool = True
    pooled: bool = False


@dataclass(frozen=True)
class Pool:
    """The largest of every second 3x3 pixels."""

    name: str


# The last step of a branch may be several convolutions of the same map.
Step: TypeAlias = Convolution | Pool | tuple[Convolution, ...]
Branch: TypeAlias = tuple[Step, ...]


def _conv(name: str, channels: int) -> Convolution:
    """A padded convolution whose name tells its kernel."""
    height, width = name.rsplit("_", maxsplit=1)[1].split("x")
    return Convolution(name, channels, (int(height), int(width)))


def _shrinking(name: str, channels: int, stride: int = 2) -> Convolution:
    return Convolution(name, channels, (3, 3), stride, padded=False)


def _first(channels: int) -> Convolution:
    return _conv("Conv2d_0a_1x1", channels)


def _pooled(channels: int) -> Branch:
    return (replace(_conv("Conv2d_0b_1x1", channels), pooled=True),)


def _mixed_5(pooled: int, wide: Branch) -> tuple[Branch, ...]:
    narrow = (_first(64), _conv("Conv2d_0b_3x3", 96), _conv("Conv2d_0c_3x3", 96))
    return (_first(64),), wide, narrow, _pooled(pooled)


def _mixed_6(inner: int) -> tuple[Branch, ...]:
    once = (_first(inner), _conv("Conv2d_0b_1x7", inner), _conv("Conv2d_0c_7x1", 192))
    names = ("Conv2d_0b_7x1", "Conv2d_0c_1x7", "Conv2d_0d_7x1")
    twice = (*(_conv(name, inner) for name in names), _conv("Conv2d_0e_1x7", 192))
    return (_first(192),), once, (_first(inner), *twice), _pooled(192)


def _mixed_7(upright: str) -> tuple[Branch, ...]:
    fork = (_conv("Conv2d_0b_1x3", 384), _conv(upright, 384))
    late_fork = (_conv("Conv2d_0c_1x3", 384), _conv("Conv2d_0d_3x1", 384))
    late = (_first(448), _conv("Conv2d_0b_3x3", 384), late_fork)
    return (_first(320),), (_first(384), fork), late, _pooled(192)


_WIDE = (_first(48), _conv("Conv2d_0b_5x5", 64))
_ODDLY_NAMED = (_conv("Conv2d_0b_1x1", 48), _conv("Conv_1_0c_5x5", 64))
_LARGEST = (Pool("MaxPool_1a_3x3"),)

# Endpoint -> a single step, or the branches of a block.
_PARTS: dict[str, Convolution | Pool | tuple[Branch, ...]] = {
    "Conv2d_1a_3x3": _shrinking("Conv2d_1a_3x3", 32),
    "Conv2d_2a_3x3": _shrinking("Conv2d_2a_3x3", 32, stride=1),
    "Conv2d_2b_3x3": _conv("Conv2d_2b_3x3", 64),
    "MaxPool_3a_3x3": Pool("MaxPool_3a_3x3"),
    "Conv2d_3b_1x1": _conv("Conv2d_3b_1x1", 80),
    "Conv2d_4a_3x3": _shrinking("Conv2d_4a_3x3", 192, stride=1),
    "MaxPool_5a_3x3": Pool("MaxPool_5a_3x3"),
    "Mixed_5b": _mixed_5(32, _WIDE),
    "Mixed_5c": _mixed_5(64, _ODDLY_NAMED),
    "Mixed_5d": _mixed_5(64, _WIDE),
    "Mixed_6a": (
        (_shrinking("Conv2d_1a_1x1", 384),),
        (_first(64), _conv("Conv2d_0b_3x3", 96), _shrinking("Conv2d_1a_1x1", 96)),
        _LARGEST,
    ),
    "Mixed_6b": _mixed_6(128),
    "Mixed_6c": _mixed_6(160),
    "Mixed_6d": _mixed_6(160),
    "Mixed_6e": _mixed_6(192),
    "Mixed_7a": (
        (_first(192), _shrinking("Conv2d_1a_3x3", 320)),
        (
            *(_first(192), _conv("Conv2d_0b_1x7", 192), _conv("Conv2d_0c_7x1", 192)),
            _shrinking("Conv2d_1a_3x3", 192),
        ),
        _LARGEST,
    ),
    "Mixed_7b": _mixed_7("Conv2d_0b_3x1"),
    "Mixed_7c": _mixed_7("Conv2d_0c_3x1"),
}
ENDPOINTS = tuple(_PARTS)

# Every part that shrinks its map does so with windows of three pixels and this stride.
_STRIDES = {"Conv2d_2a_3x3": 1, "Conv2d_4a_3x3": 1} | dict.fromkeys(
    ("Conv2d_1a_3x3", "MaxPool_3a_3x3", "MaxPool_5a_3x3", "Mixed_6a", "Mixed_7a"), 2
)


class InceptionV3(nn.Module):
    """Maps pictures to features; the norms of training see each of the `views` by itself.

    TensorFlow runs the views one after the other, so its moving averages take one step per view,
    the last view counting most. Ours take the sum of these steps, all norms together.
    """

    shares: Tensor

    def __init__(
        self, endpoint: str = "Mixed_5d", views: int = 1, norm_decay: float = 0.9997
    ) -> None:
        super().__init__()
        self.channels = 3
        for name in endpoints_up_to(endpoint):
            part = _PARTS[name]
            if isinstance(part, tuple):
                block = _Block(self.channels, part, views)
                self.channels = block.channels
                self.add_module(name, block)
            else:
                layer, self.channels = _layer(self.channels, part, views)
                self.add_module(name, layer)
        steps = torch.tensor([norm_decay**later for later in reversed(range(views))])
        self.register_buffer("shares", (steps / steps.sum())[:, None], persistent=False)
        self.moved = 1 - norm_decay**views

    def forward(self, images: Tensor) -> Tensor:
        """Map pictures, V*B 3 H W, to features, V*B C h w."""
        if not self.training:
            return self._map(images)
        norms = [part for part in self.modules() if isinstance(part, ViewNorm)]
        channels = [len(norm.bias) for norm in norms]
        seen = self.shares.new_zeros(2, len(self.shares), sum(channels))
        for norm, part in zip(norms, seen.split(channels, 2), strict=True):
            norm.seen = part
        features = self._map(images)
        with torch.no_grad():
            averages = [each for norm in norms for each in (norm.running_mean, norm.running_var)]
            of_batch = (seen * self.shares).sum(1).split(channels, 1)
            torch._foreach_lerp_(averages, [row for pair in of_batch for row in pair], self.moved)
        return features

    def _map(self, images: Tensor) -> Tensor:
        for part in self.children():
            images = part(images)
        return images


class ViewNorm(nn.Module):
    """Batch normalisation without a factor, each view by its own statistics while training.

    `seen` is where they go, means and variances, 2 V C: zeros, before the views come.
    """

    weight: Tensor
    running_mean: Tensor
    running_var: Tensor
    seen: Tensor
    normalise: BatchNorm = staticmethod(functional.batch_norm)

    def __init__(self, channels: int, views: int) -> None:
        super().__init__()
        self.views = views
        # Without a factor, the fused norms of GPUs give no gradient for the bias.
        self.register_buffer("weight", torch.ones(channels), persistent=False)
        self.bias = nn.Parameter(torch.zeros(channels))
        self.register_buffer("running_mean", torch.zeros(channels))
        self.register_buffer("running_var", torch.ones(channels))

    def forward(self, features: Tensor) -> Tensor:
        if not self.training:
            return self._norm(features, self.running_mean, self.running_var)
        views = zip(features.chunk(self.views), *self.seen, strict=True)
        return torch.cat([self._norm(*view) for view in views])

    def for_kernels(self) -> Norm | None:
        if self.normalise is not functional.batch_norm:
            return None
        means, variances = self.seen
        return Norm(self.weight, self.bias, means, variances, momentum=1.0, epsilon=EPSILON)

    def _norm(self, features: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
        training, momentum = self.training, 1.0  # so `seen` is of this batch alone
        return self.normalise(
            features, mean, variance, self.weight, self.bias, training, momentum, EPSILON
        )


def endpoints_up_to(endpoint: str) -> tuple[str, ...]:
    """Return the endpoints a picture passes, `endpoint` the last."""
    if endpoint not in ENDPOINTS:
        raise RecipeError(
            f"Inception-v3 has no endpoint `{endpoint}`",
            hint=f"choose one of {', '.join(ENDPOINTS)}",
        )
    return ENDPOINTS[: ENDPOINTS.index(endpoint) + 1]


def map_size(endpoint: str, height: int, width: int) -> tuple[int, int]:
    """Return height and width of the map that a picture of this size has at an endpoint."""
    size = height, width
    for name in endpoints_up_to(endpoint):
        if name in _STRIDES:
            size = (size[0] - 3) // _STRIDES[name] + 1, (size[1] - 3) // _STRIDES[name] + 1
    if min(size) < 1:
        raise RecipeError(
            f"pictures of {height}x{width} pixels are too small for `{endpoint}`",
            hint="choose larger pictures, or an earlier endpoint",
        )
    return size


def convolutions_up_to(endpoint: str) -> Iterator[tuple[str, str]]:
    """Yield the scope in TensorFlow and the path in the network of every convolution."""
    for name in endpoints_up_to(endpoint):
        part = _PARTS[name]
        if isinstance(part, Convolution):
            yield name, name
        elif isinstance(part, tuple):
            yield from _convolutions_of(name, part)


class _Block(nn.Module):
    """Branches side by side, their channels joined."""

    def __init__(self, inputs: int, branches: tuple[Branch, ...], views: int) -> None:
        super().__init__()
        self.channels = 0
        for number, branch in enumerate(branches):
            chain, channels = nn.Sequential(), inputs
            for step in branch:
                layer, channels = _layer(channels, step, views)
                chain.add_module("fork" if isinstance(step, tuple) else step.name, layer)
            self.add_module(f"Branch_{number}", chain)
            self.channels += channels

    def forward(self, features: Tensor) -> Tensor:
        branches = list(self.children())
        given = [[one] for one in fan_out(features, len(branches))]
        lasts = [_last_layer(branch) for branch in branches]
        if not all(last is not None and last.can_write(features) for last in lasts):
            return torch.cat(side_by_side(branches, given), dim=1)
        pictures, _, height, width = features.shape
        joined = new_rows(features, pictures, self.channels, height, width)
        places = joined.split([last.channels for last in lasts if last is not None], 1)
        works = [partial(_write, *both) for both in zip(branches, places, strict=True)]
        return join(joined, side_by_side(works, given))


def _last_layer(branch: nn.Module) -> _Layer | None:
    """Return the last layer of a branch, if nobody wants to see what goes in and out of it."""
    assert isinstance(branch, nn.Sequential)
    last = branch[-1]
    return (
        last if isinstance(last, _Layer) and not (is_watched(branch) or is_watched(last)) else None
    )


def _write(branch: nn.Module, place: Tensor, features: Tensor) -> Tensor:
    """Let the last layer of a branch write into its channels of the joined map."""
    assert isinstance(branch, nn.Sequential)
    for layer in list(branch)[:-1]:
        features = layer(features)
    written: Tensor = branch[-1](features, place)
    return written


class _Layer(nn.Module):
    def __init__(self, inputs: int, step: Convolution, views: int) -> None:
        super().__init__()
        height, width = step.kernel
        padding = (height // 2, width // 2) if step.padded else (0, 0)
        self.convolution = LateConvolution(
            inputs, step.channels, step.kernel, step.stride, padding, bias=False
        )
        start_scaled(self.convolution.weight, scale=2.0, fan="in")
        self.channels = step.channels
        self.pooled = step.pooled
        self.keeps_size = step.padded and step.stride == 1
        self.norm = ViewNorm(step.channels, views)

    def can_write(self, features: Tensor) -> bool:
        """Whether this layer can write into channels of a map as large as these, and alike."""
        return (
            self.keeps_size
            and torch.is_grad_enabled()
            and norm_for_kernels(self.norm, features) is not None
            and working_half(features.device) in (None, features.dtype)
        )

    def forward(self, features: Tensor, into: Tensor | None = None) -> Tensor:
        if folds(features, self.convolution):
            features = convolve_folded(features, self.convolution.weight, Padding())
        else:
            features = self.convolution(features)
        if self.pooled:
            # The convolution is one pixel wide, so it may come first and leave less to average.
            features = mean_of_neighbours(features)
        return apply_norm(self.norm, features, into=into)


def _layer(inputs: int, step: Step, views: int) -> tuple[nn.Module, int]:
    """Build one step of a branch; return it with the number of its channels."""
    if isinstance(step, Convolution):
        return _Layer(inputs, step, views), step.channels
    if isinstance(step, tuple):
        fork = _Block(inputs, tuple((each,) for each in step), views)
        return fork, fork.channels
    return WindowMax(Windows((3, 3), (2, 2))), inputs


def _convolutions_of(name: str, branches: tuple[Branch, ...]) -> Iterator[tuple[str, str]]:
    for number, branch in enumerate(branches):
        scope, path = f"{name}/Branch_{number}", f"{name}.Branch_{number}"
        for step in branch:
            if isinstance(step, Convolution):
                yield f"{scope}/{step.name}", f"{path}.{step.name}"
            elif isinstance(step, tuple):
                for place, each in enumerate(step):
                    yield f"{scope}/{each.name}", f"{path}.fork.Branch_{place}.{each.name}"
