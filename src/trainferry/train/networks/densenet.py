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
from torch.nn import functional

from trainferry.train.networks.layers import (
    DebiasedNorm,
    FixedConvolution,
    SameConvolution,
    build_classifier,
    start_scaled,
)

Variant: TypeAlias = Literal["original", "paper"]
Norm: TypeAlias = Callable[[int], nn.BatchNorm2d]

# Layers in each of the four blocks.
LAYERS = {121: (6, 12, 24, 16), 169: (6, 12, 32, 32), 201: (6, 12, 48, 32)}
_BOTTLENECK = 4


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
            self.pool = nn.MaxPool2d(3, stride=2)
        else:
            convolution = FixedConvolution(3, channels, kernel=7, stride=2)
            self.stem = nn.Sequential(convolution, norm(channels), nn.ReLU(inplace=True))
            self.pool = nn.MaxPool2d(3, stride=2, padding=1)
        parts: list[nn.Module] = []
        for count in LAYERS[size]:
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
        features = self.parts(self.pool(self.stem(images)))
        features = functional.relu(self.last_norm(features))
        return self.classifier(features.mean(dim=(2, 3)))


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


class _DenseLayer(nn.Module):
    def __init__(self, channels: int, growth: int, norm: Norm) -> None:
        super().__init__()
        width = _BOTTLENECK * growth
        self.norm1 = norm(channels)
        self.convolution1 = SameConvolution(channels, width, kernel=1)
        self.norm2 = norm(width)
        self.convolution2 = SameConvolution(width, growth, kernel=3)

    def forward(self, features: Tensor) -> Tensor:
        features = self.convolution1(functional.relu(self.norm1(features)))
        return self.convolution2(functional.relu(self.norm2(features)))


class _Transition(nn.Module):
    """Half the channels, half the size."""

    def __init__(self, channels: int, norm: Norm) -> None:
        super().__init__()
        self.norm = norm(channels)
        self.convolution = SameConvolution(channels, channels // 2, kernel=1)
        self.pool = nn.AvgPool2d(2)

    def forward(self, features: Tensor) -> Tensor:
        return self.pool(self.convolution(functional.relu(self.norm(features))))


def _choose_norm(variant: Variant, decay: float) -> Norm:
    if variant == "original":
        return lambda channels: DebiasedNorm(channels, epsilon=1e-3, decay=decay)
    return lambda channels: nn.BatchNorm2d(channels, eps=1e-5, momentum=1 - decay)
