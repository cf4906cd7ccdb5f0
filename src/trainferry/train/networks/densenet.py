"""DenseNet: every layer sees the outputs of all layers before it.

Huang, Liu, van der Maaten and Weinberger, 2016, https://arxiv.org/abs/1608.06993, as they are
there ("paper") and in the form of the TensorFlow 1.15 original: no normalisation behind the first
convolution, and a first pooling without padding, so that the maps are 55, 27, 13 and 6 pixels wide.

Shapes: B pictures, C channels, K classes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn

from trainferry.train.kernels.dense import GrowingMap
from trainferry.train.kernels.max_pool import Windows
from trainferry.train.kernels.norm_passes.values import Norm as KernelNorm
from trainferry.train.kernels.spread import mean_of_squares
from trainferry.train.networks.layers import (
    DebiasedNorm,
    FixedConvolution,
    SameConvolution,
    apply_norm,
    build_classifier,
    norm_for_kernels,
    start_scaled,
)
from trainferry.train.networks.pool import WindowMax
from trainferry.train.networks.sizes import DENSENET_LAYERS

Variant: TypeAlias = Literal["original", "paper"]
Norm: TypeAlias = Callable[[int], nn.BatchNorm2d]

_BOTTLENECK = 4
_SHRINKING = 2


class DenseNet(nn.Module):
    """Names what is in a picture, one score per class; its first map has 2 * `growth` channels."""

    def __init__(
        self,
        classes: int,
        size: int = 121,
        growth: int = 32,
        variant: Variant = "original",
        norm_decay: float = 0.9,
    ) -> None:
        super().__init__()
        norm = _choose_norm(variant, norm_decay)
        channels = 2 * growth
        if variant == "original":
            self.stem: nn.Module = SameConvolution(3, channels, kernel=7, stride=2)
            self.pool = WindowMax(Windows((3, 3), (2, 2)))
        else:
            convolution = FixedConvolution(3, channels, kernel=7, stride=2)
            self.stem = _Stem(convolution, norm(channels), nn.ReLU(inplace=True))
            self.pool = WindowMax(Windows((3, 3), (2, 2), 1, 1, 1, 1))
        parts: list[nn.Module] = []
        for count in DENSENET_LAYERS[size]:
            if parts:
                parts.append(_Transition(channels, norm))
                channels //= 2
            parts.append(_DenseBlock(channels, count, growth, norm))
            channels += count * growth
        self.parts = nn.Sequential(*parts)
        self.last_norm = norm(channels)
        self.classifier = build_classifier(channels, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                start_scaled(module.weight, scale=5.0, fan="out")

    def forward(self, images: Tensor) -> Tensor:
        """Map pictures, B 3 H W, to class scores, B K."""
        features = self.pool(self.stem(images))
        if self._can_grow(features):
            features = self._grown(features)
        else:
            features = apply_norm(self.last_norm, self.parts(features))
        return self.classifier(features.mean(dim=(2, 3)))

    def _can_grow(self, features: Tensor) -> bool:
        """Whether kernels compute all norms, down to the smallest map."""
        height, width = (size >> len(self.parts) // 2 for size in features.shape[2:])
        smallest = features[..., :height, :width]
        norms = [part for part in self.modules() if isinstance(part, nn.BatchNorm2d)]
        return all(norm_for_kernels(norm, smallest) is not None for norm in norms)

    def _grown(self, features: Tensor) -> Tensor:
        """Run the parts without joining channels anew for every layer."""
        blocks = [part for part in self.parts if isinstance(part, _DenseBlock)]
        transitions = [part for part in self.parts if isinstance(part, _Transition)]
        for block, transition in zip(blocks, transitions, strict=False):
            features = transition.shrink(block.grow(features, transition.norm))
        return blocks[-1].grow(features, self.last_norm)


class _Stem(nn.Sequential):
    """Convolution, norm and rectifier."""

    def forward(self, images: Tensor) -> Tensor:
        convolution, norm, rectifier = self
        features = convolution(images)
        if norm_for_kernels(norm, features) is not None:
            return apply_norm(norm, features)
        return rectifier(norm(features))


class _DenseBlock(nn.Module):
    """Layers that each add `growth` channels behind those that are there."""

    def __init__(self, channels: int, count: int, growth: int, norm: Norm) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            _DenseLayer(channels + number * growth, growth, norm) for number in range(count)
        )

    def forward(self, features: Tensor) -> Tensor:
        for layer in self.layers:
            features = torch.cat([features, layer(features)], dim=1)
        return features

    def grow(self, features: Tensor, following: nn.Module) -> Tensor:
        """Return all channels, normalised by the norm that follows; by kernels."""
        layers = [layer for layer in self.layers if isinstance(layer, _DenseLayer)]
        channels = sum(layer.convolution2.out_channels for layer in layers)
        grown = GrowingMap(features, features.shape[1] + channels)
        for layer in layers:
            grown.append(layer.convolve(grown.normalise(_known(layer.norm1, features))))
        return grown.normalise(_known(following, features))


class _DenseLayer(nn.Module):
    def __init__(self, channels: int, growth: int, norm: Norm) -> None:
        super().__init__()
        width = _BOTTLENECK * growth
        self.norm1 = norm(channels)
        self.convolution1 = SameConvolution(channels, width, kernel=1)
        self.norm2 = norm(width)
        self.convolution2 = SameConvolution(width, growth, kernel=3)

    def forward(self, features: Tensor) -> Tensor:
        return self.convolve(apply_norm(self.norm1, features))

    def convolve(self, normalised: Tensor) -> Tensor:
        return self.convolution2(apply_norm(self.norm2, self.convolution1(normalised)))


class _Transition(nn.Module):
    """Half the channels, half the size."""

    def __init__(self, channels: int, norm: Norm) -> None:
        super().__init__()
        self.norm = norm(channels)
        self.convolution = SameConvolution(channels, channels // 2, kernel=1)

    def forward(self, features: Tensor) -> Tensor:
        return self.shrink(apply_norm(self.norm, features))

    def shrink(self, normalised: Tensor) -> Tensor:
        # The convolution is one pixel wide, so it may come last and see a fourth of the pixels.
        return self.convolution(mean_of_squares(normalised, _SHRINKING))


def _known(norm: nn.Module, features: Tensor) -> KernelNorm:
    known = norm_for_kernels(norm, features)
    assert known is not None
    return known


def _choose_norm(variant: Variant, decay: float) -> Norm:
    if variant == "original":
        return lambda channels: DebiasedNorm(channels, epsilon=1e-3, decay=decay)
    return lambda channels: nn.BatchNorm2d(channels, eps=1e-5, momentum=1 - decay)
