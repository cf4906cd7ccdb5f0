"""Layers that several networks share: TensorFlow's padding, start values and statistics."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

import torch
from torch import Tensor, nn
from torch.nn import functional

from trainferry.devices.kernels import runs_kernels
from trainferry.train.kernels.fold import Padding, convolve_folded, folds
from trainferry.train.kernels.max_pool import Windows
from trainferry.train.kernels.narrow import convolve_narrow, is_narrow
from trainferry.train.kernels.norm import FORMATS, normalise, normalise_twice
from trainferry.train.kernels.norm_passes.values import Norm
from trainferry.train.networks.convolve import LateConvolution, convolve_behind
from trainferry.train.networks.pool import max_pool

BatchNorm: TypeAlias = Callable[..., Tensor]
Pool: TypeAlias = Callable[[Tensor], Tensor]
Fan: TypeAlias = Literal["in", "out"]

# What a copy of a map costs, in multiplications by zeros: of 7 more for every 9, for each output.
_BEHIND, _FEW_OUTPUTS, _LARGE = Padding(0, 1, 0, 1), 256, 2**20

# A normal distribution cut off at two deviations has this deviation left.
_DEVIATION_LEFT = 0.87962566103423978


class SameConvolution(LateConvolution):
    """A convolution without bias, padded as TensorFlow's SAME: the odd pixel goes behind."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1) -> None:
        # With stride 1 both sides are padded alike, which the convolution does by itself.
        padding = kernel // 2 if stride == 1 else 0
        super().__init__(inputs, outputs, kernel, stride, padding, bias=False)

    def forward(self, images: Tensor) -> Tensor:
        kernel, stride = self.kernel_size[0], self.stride[0]
        around = Padding(*_around(images, kernel, stride))
        if is_narrow(images, self):
            return convolve_narrow(images, self.weight, stride, around)
        if stride == 1:
            return super().forward(images)
        if folds(images, self):
            return convolve_folded(images, self.weight, around)
        if self._avoids_copy(images, around):
            return convolve_behind(images, self)
        return super().forward(pad_same(images, kernel, stride))

    def _avoids_copy(self, images: Tensor, around: Padding) -> bool:
        """Whether a device multiplies by more zeros sooner than it copies the map."""
        return (
            around == _BEHIND
            and self.kernel_size == (3, 3)
            and self.stride == (2, 2)
            and self.out_channels <= _FEW_OUTPUTS
            and images.dtype in (torch.bfloat16, torch.float16)
            and torch.is_grad_enabled()
            and runs_kernels(images)
            and images.numel() >= _LARGE
        )


class FixedConvolution(LateConvolution):
    """A convolution without bias, padded alike on both sides whatever the size of the picture."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1) -> None:
        super().__init__(inputs, outputs, kernel, stride, kernel // 2, bias=False)

    def forward(self, images: Tensor) -> Tensor:
        if folds(images, self):
            around = Padding(*(4 * [self.kernel_size[0] // 2]))
            return convolve_folded(images, self.weight, around)
        return super().forward(images)


class SameMaxPool(nn.Module):
    """A maximum over windows, padded as TensorFlow's SAME."""

    def __init__(self, kernel: int, stride: int) -> None:
        super().__init__()
        self.kernel = kernel
        self.stride = stride

    def forward(self, images: Tensor) -> Tensor:
        kernel, stride = self.kernel, self.stride
        around = _around(images, kernel, stride)
        return max_pool(images, Windows((kernel, kernel), (stride, stride), *around))


def pad_same(images: Tensor, kernel: int, stride: int, value: float = 0.0) -> Tensor:
    """Pad for an output of size/stride, rounded up; where the padding is odd, more goes behind."""
    top, bottom, left, right = _around(images, kernel, stride)
    if not (top or bottom or left or right):
        return images
    return functional.pad(images, [left, right, top, bottom], value=value)


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

    def for_kernels(self) -> Norm | None:
        assert self.running_mean is not None
        assert self.running_var is not None
        if self.normalise is not functional.batch_norm:
            return None
        return Norm(
            self.weight,
            self.bias,
            self.biased,
            self.running_var,
            momentum=1 - self.decay,
            epsilon=self.eps,
            batches=self.num_batches_tracked,
            debiased=self.running_mean,
            steps=self.local_step,
        )

    @torch.no_grad()
    def _debias(self) -> None:
        assert self.running_mean is not None
        assert self.num_batches_tracked is not None
        self.num_batches_tracked += 1
        self.local_step += 1
        self.running_mean.copy_(self.biased / (1 - self.decay**self.local_step))


@runtime_checkable
class HasKernels(Protocol):
    """A norm that kernels can compute, unless it says otherwise at the moment."""

    def for_kernels(self) -> Norm | None:
        """Return what the kernels need to know."""


def apply_norm(
    norm: nn.Module,
    features: Tensor,
    added: Tensor | None = None,
    *,
    rectified: bool = True,
    into: Tensor | None = None,
) -> Tensor:
    """Normalise, add and rectify; in as few passes as the device can.

    The result is written `into` some channels of a map, which only kernels can.
    """
    known = norm_for_kernels(norm, features)
    if known is not None:
        return normalise(features, known, rectified=rectified, added=added, into=into)
    assert into is None
    result: Tensor = norm(features)
    if added is not None:
        result = result + added
    return functional.relu(result, inplace=True) if rectified else result


def pool_normalised(norm: nn.Module, features: Tensor, pool: Pool) -> Tensor:
    """Normalise, rectify, and take the largest values of windows.

    Kernels rectify on their way. Without them the rectifier comes last, where less is left: the
    largest value of a window is the same before and after it, and so is the gradient.
    """
    if norm_for_kernels(norm, features) is not None:
        return pool(apply_norm(norm, features))
    return functional.relu(pool(norm(features)), inplace=True)


class Twice(NamedTuple):
    """One map for two readers, so that a kernel and not autograd adds up their gradients."""

    first: Tensor
    second: Tensor


Features: TypeAlias = Tensor | Twice


def both(features: Features) -> Twice:
    return features if isinstance(features, Twice) else Twice(features, features)


def close_block(norm: nn.Module, features: Tensor, shortcut: Tensor) -> Features:
    """Normalise, add and rectify what a block made, for the next block, which reads it twice."""
    known = norm_for_kernels(norm, features)
    if known is None:
        return apply_norm(norm, features, shortcut)
    return Twice(*normalise_twice(features, known, shortcut))


def norm_for_kernels(norm: nn.Module, features: Tensor) -> Norm | None:
    """Tell kernels what they must know of a norm; None where it has to run by itself.

    So it has to where hooks want to see what goes in and out of it.
    """
    if not (norm.training and runs_kernels(features) and features.dtype in FORMATS):
        return None
    if is_watched(norm) or features.ndim != 4:
        return None
    known = _plain_for_kernels(norm)
    if known is None or known.weight.dtype != torch.float32:
        return None
    pictures = features.shape[0]
    alike = pictures % known.groups == 0
    return known if alike and features[0, 0].numel() * pictures // known.groups > 1 else None


def _plain_for_kernels(norm: nn.Module) -> Norm | None:
    if type(norm) is not nn.BatchNorm2d:
        return norm.for_kernels() if isinstance(norm, HasKernels) else None
    if norm.momentum is None or norm.running_mean is None or norm.running_var is None:
        return None
    return Norm(
        norm.weight,
        norm.bias,
        norm.running_mean,
        norm.running_var,
        momentum=norm.momentum,
        epsilon=norm.eps,
        batches=norm.num_batches_tracked,
    )


def is_watched(module: nn.Module) -> bool:
    """Whether somebody wants to see what goes in and out of a module."""
    hooks = (
        module._forward_hooks,
        module._forward_pre_hooks,
        module._backward_hooks,
        module._backward_pre_hooks,
    )
    return any(hooks)


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


def _around(images: Tensor, kernel: int, stride: int) -> tuple[int, int, int, int]:
    """Pixels above, below, left and right of a picture; of an odd number more go behind."""
    height, width = (_padding(size, kernel, stride) for size in images.shape[-2:])
    return height // 2, height - height // 2, width // 2, width - width // 2


def _padding(size: int, kernel: int, stride: int) -> int:
    outputs = -(-size // stride)
    return max((outputs - 1) * stride + kernel - size, 0)
