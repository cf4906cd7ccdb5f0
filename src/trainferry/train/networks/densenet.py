"""DenseNet: every layer sees the outputs of all layers before it.

Huang, Liu, van der Maaten and Weinberger, 2016, https://arxiv.org/abs/1608.06993, in the form of
the TensorFlow 1.15 original: no normalisation behind the first convolution, and a first pooling
without padding, so that the maps are 55, 27, 13 and 6 pixels wide.

Shapes: B pictures, C channels, K classes.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from trainferry.train.networks.layers import (
    DebiasedNorm,
    SameConvolution,
    build_classifier,
    start_scaled,
)

# Layers in each of the four blocks.
LAYERS = {121: (6, 12, 24, 16), 169: (6, 12, 32, 32), 201: (6, 12, 48, 32)}
GROWTH = 32
_BOTTLENECK = 4
_STEM = 64
_EPSILON = 1e-3


class DenseNet(nn.Module):
    """Names what is in a picture, one score per class."""

    def __init__(self, classes: int, size: int = 121, norm_decay: float = 0.9) -> None:
        super().__init__()
        self.stem = SameConvolution(3, _STEM, kernel=7, stride=2)
        self.pool = nn.MaxPool2d(3, stride=2)
        channels = _STEM
        parts: list[nn.Module] = []
        for count in LAYERS[size]:
            if parts:
                parts.append(_Transition(channels, norm_decay))
                channels //= 2
            parts.append(_DenseBlock(channels, count, norm_decay))
            channels += count * GROWTH
        self.parts = nn.Sequential(*parts)
        self.last_norm = _norm(channels, norm_decay)
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
    """Layers that each add GROWTH channels behind those that are there."""

    def __init__(self, channels: int, count: int, norm_decay: float) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            _DenseLayer(channels + number * GROWTH, norm_decay) for number in range(count)
        )

    def forward(self, features: Tensor) -> Tensor:
        for layer in self.layers:
            features = torch.cat([features, layer(features)], dim=1)
        return features


class _DenseLayer(nn.Module):
    def __init__(self, channels: int, norm_decay: float) -> None:
        super().__init__()
        width = _BOTTLENECK * GROWTH
        self.norm1 = _norm(channels, norm_decay)
        self.convolution1 = SameConvolution(channels, width, kernel=1)
        self.norm2 = _norm(width, norm_decay)
        self.convolution2 = SameConvolution(width, GROWTH, kernel=3)

    def forward(self, features: Tensor) -> Tensor:
        features = self.convolution1(functional.relu(self.norm1(features)))
        return self.convolution2(functional.relu(self.norm2(features)))


class _Transition(nn.Module):
    """Half the channels, half the size."""

    def __init__(self, channels: int, norm_decay: float) -> None:
        super().__init__()
        self.norm = _norm(channels, norm_decay)
        self.convolution = SameConvolution(channels, channels // 2, kernel=1)
        self.pool = nn.AvgPool2d(2)

    def forward(self, features: Tensor) -> Tensor:
        return self.pool(self.convolution(functional.relu(self.norm(features))))


def _norm(channels: int, decay: float) -> DebiasedNorm:
    return DebiasedNorm(channels, epsilon=_EPSILON, decay=decay)
