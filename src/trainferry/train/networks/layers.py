"""Layers that several networks share: TensorFlow's padding, start values and statistics."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

BatchNorm: TypeAlias = Callable[..., Tensor]
Fan: TypeAlias = Literal["in", "out"]

# A normal distribution cut off at two deviations has this deviation left.
_DEVIATION_LEFT = 0.87962566103423978


class SameConvolution(nn.Conv2d):
    """A convolution without bias, padded as TensorFlow's SAME: the odd pixel goes behind."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1) -> None:
        # With stride 1 both sides are padded alike, which the convolution does by itself.
        padding = kernel // 2 if stride == 1 else 0
        super().__init__(inputs, outputs, kernel, stride, padding, bias=False)

    def forward(self, images: Tensor) -> Tensor:
        kernel, stride = self.kernel_size[0], self.stride[0]
        return super().forward(images if stride == 1 else pad_same(images, kernel, stride))


class FixedConvolution(nn.Conv2d):
    """A convolution without bias, padded alike on both sides whatever the size of the picture."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1) -> None:
        super().__init__(inputs, outputs, kernel, stride, kernel // 2, bias=False)


class SameMaxPool(nn.Module):
    """A maximum over windows, padded as TensorFlow's SAME."""

    def __init__(self, kernel: int, stride: int) -> None:
        super().__init__()
        self.kernel = kernel
        self.stride = stride

    def forward(self, images: Tensor) -> Tensor:
        padded = pad_same(images, self.kernel, self.stride, value=-math.inf)
        return functional.max_pool2d(padded, self.kernel, self.stride)


def pad_same(images: Tensor, kernel: int, stride: int, value: float = 0.0) -> Tensor:
    """Pad for an output of size/stride, rounded up; where the padding is odd, more goes behind."""
    height, width = (_padding(size, kernel, stride) for size in images.shape[-2:])
    if not height and not width:
        return images
    sides = [width // 2, width - width // 2, height // 2, height - height // 2]
    return functional.pad(images, sides, value=value)


class DebiasedNorm(nn.BatchNorm2d):
    """Batch normalisation whose mean forgets that it started at zero.

    TensorFlow's `zero_debias_moving_mean`: `biased` is the plain moving average, and the mean
    in use is `biased / (1 - decay ** steps)`. The variance is not treated so.
    """

    biased: Tensor
    local_step: Tensor
    normalise: BatchNorm = staticmethod(functional.batch_norm)

    def __init__(self, channels: int, epsilon: float, decay: float) -> None:
        super().__init__(channels, eps=epsilon, momentum=1 - decay)
        self.decay = decay
        self.register_buffer("biased", torch.zeros(channels))
        self.register_buffer("local_step", torch.zeros(()))

    def forward(self, images: Tensor) -> Tensor:
        mean = self.biased if self.training else self.running_mean
        result = self.normalise(
            images,
            mean,
            self.running_var,
            self.weight,
            self.bias,
            training=self.training,
            momentum=1 - self.decay,
            eps=self.eps,
        )
        if self.training:
            self._debias()
        return result

    @torch.no_grad()
    def _debias(self) -> None:
        assert self.running_mean is not None
        assert self.num_batches_tracked is not None
        self.num_batches_tracked += 1
        self.local_step += 1
        self.running_mean.copy_(self.biased / (1 - self.decay**self.local_step))


@torch.no_grad()
def start_scaled(weight: Tensor, scale: float, fan: Fan) -> None:
    """TensorFlow's `variance_scaling`: a variance of scale/fan, cut off at two deviations."""
    outputs, inputs, height, width = weight.shape
    size = (inputs if fan == "in" else outputs) * height * width
    deviation = math.sqrt(scale / size) / _DEVIATION_LEFT
    nn.init.trunc_normal_(weight, std=deviation, a=-2 * deviation, b=2 * deviation)


def build_classifier(inputs: int, classes: int) -> nn.Linear:
    """The last layer with the start values of TensorFlow's dense layer."""
    classifier = nn.Linear(inputs, classes)
    nn.init.xavier_uniform_(classifier.weight)
    nn.init.zeros_(classifier.bias)
    return classifier


def _padding(size: int, kernel: int, stride: int) -> int:
    outputs = -(-size // stride)
    return max((outputs - 1) * stride + kernel - size, 0)
