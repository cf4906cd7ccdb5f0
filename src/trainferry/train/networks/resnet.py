"""ResNet: blocks that add what they learn to what they were given.

He, Zhang, Ren and Sun, 2015, https://arxiv.org/abs/1512.03385 (version 1) and 2016,
https://arxiv.org/abs/1603.05027 (version 2, normalised before each convolution), in the form of
TensorFlow's official models: the 3x3 convolution of a block strides, and the first block of
every stage projects its shortcut, also where the shapes fit already. The model zoo has another
("zoo"): all padding is SAME, and the last norm of a block starts at zero.

Shapes: B pictures, K classes.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

from torch import Tensor, nn

from trainferry.train.networks.layers import (
    Features,
    FixedConvolution,
    SameConvolution,
    SameMaxPool,
    Twice,
    apply_norm,
    both,
    build_classifier,
    close_block,
    pool_normalised,
    start_scaled,
)
from trainferry.train.networks.sizes import RESNET_BLOCKS

Version: TypeAlias = Literal[1, 2]
Variant: TypeAlias = Literal["official", "zoo"]

_EPSILON = {"official": 1e-5, "zoo": 1e-4}
_ZOO_DEVIATION = 0.01  # of the last layer's start values


class ResNet(nn.Module):
    """Names what is in a picture, one score per class."""

    def __init__(
        self,
        classes: int,
        size: int = 50,
        version: Version = 1,
        width: int = 64,
        norm_decay: float = 0.997,
        variant: Variant = "official",
    ) -> None:
        super().__init__()
        kind = _Kind(version, variant, norm_decay)
        self.version = version
        self.stem = kind.convolution(3, width, kernel=7, stride=2)
        self.stem_norm = kind.norm(width) if version == 1 else nn.Identity()
        self.pool = SameMaxPool(kernel=3, stride=2)
        expansion = 4 if size >= 50 else 1
        channels = width
        stages: list[nn.Module] = []
        for stage, count in enumerate(RESNET_BLOCKS[size]):
            inner = width * 2**stage
            blocks = []
            for number in range(count):
                stride = 2 if stage > 0 and number == 0 else 1
                outputs = inner * expansion
                widths = (
                    (channels, inner, inner, outputs)
                    if expansion > 1
                    else (channels, inner, outputs)
                )
                blocks.append(_Block(widths, stride, kind, projects=number == 0))
                channels = outputs
            stages.append(nn.Sequential(*blocks))
        self.stages = nn.Sequential(*stages)
        self.last_norm = kind.norm(channels) if version == 2 else nn.Identity()
        self.classifier = build_classifier(channels, classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                start_scaled(module.weight, scale=1.0, fan="in")
        if variant == "zoo":
            self._start_quietly()

    def _start_quietly(self) -> None:
        nn.init.normal_(self.classifier.weight, std=_ZOO_DEVIATION)
        for module in self.modules():
            if isinstance(module, _Block):
                nn.init.zeros_(module.norms[-1].weight)  # type: ignore[arg-type]  # a norm's

    def forward(self, images: Tensor) -> Tensor:
        """Map pictures, B 3 H W, to class scores, B K."""
        features = self.stem(images)
        if self.version == 1:
            features = pool_normalised(self.stem_norm, features, self.pool)
        else:
            features = self.pool(features)
        features = both(self.stages(features)).first
        if self.version == 2:
            features = apply_norm(self.last_norm, features)
        return self.classifier(features.mean(dim=(2, 3)))


class _Kind(NamedTuple):
    """What all layers of a network have in common."""

    version: Version
    variant: Variant
    norm_decay: float

    def convolution(self, inputs: int, outputs: int, kernel: int, stride: int) -> nn.Conv2d:
        padded = SameConvolution if self.variant == "zoo" else FixedConvolution
        return padded(inputs, outputs, kernel, stride)

    def norm(self, channels: int) -> nn.BatchNorm2d:
        return nn.BatchNorm2d(channels, eps=_EPSILON[self.variant], momentum=1 - self.norm_decay)


class _Block(nn.Module):
    """Two 3x3 convolutions, or a bottleneck of three; `widths` are the channels between them."""

    def __init__(
        self, widths: tuple[int, ...], stride: int, kind: _Kind, *, projects: bool
    ) -> None:
        super().__init__()
        version = kind.version
        kernels = (1, 3, 1) if len(widths) == 4 else (3, 3)
        strides = [stride if place == kernels.index(3) else 1 for place in range(len(kernels))]
        self.version = version
        self.projection = kind.convolution(widths[0], widths[-1], 1, stride) if projects else None
        self.projection_norm = kind.norm(widths[-1]) if projects and version == 1 else nn.Identity()
        self.convolutions = nn.ModuleList(
            kind.convolution(inputs, outputs, kernel, step)
            for (inputs, outputs), kernel, step in zip(
                pairwise(widths), kernels, strides, strict=True
            )
        )
        normed = widths[1:] if version == 1 else widths[:-1]
        self.norms = nn.ModuleList(kind.norm(channels) for channels in normed)

    def forward(self, features: Features) -> Features:
        given = both(features)
        return self._after(given) if self.version == 1 else self._before(given.first)

    def _after(self, given: Twice) -> Features:
        """Version 1: normalise after each convolution."""
        features, shortcut = given
        if self.projection is not None:
            shortcut = self.projection(shortcut)
            shortcut = apply_norm(self.projection_norm, shortcut, rectified=False)
        *inner, last = zip(self.convolutions, self.norms, strict=True)
        for convolution, norm in inner:
            features = apply_norm(norm, convolution(features))
        convolution, norm = last
        return close_block(norm, convolution(features), shortcut)

    def _before(self, features: Tensor) -> Tensor:
        """Version 2: normalise before each convolution; the projection sees the normalised."""
        shortcut = features
        for place, (convolution, norm) in enumerate(
            zip(self.convolutions, self.norms, strict=True)
        ):
            features = apply_norm(norm, features)
            if place == 0 and self.projection is not None:
                shortcut = self.projection(features)
            features = convolution(features)
        return features + shortcut
