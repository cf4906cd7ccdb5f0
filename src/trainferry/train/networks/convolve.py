"""Convolutions by the library of the device; gradients of weights wait for nobody in a whole step.

On the way back, the next layer needs the gradient of the features, and nobody that of the weight
before the end. Where a step is recorded, it is therefore made beside the rest (`devices/lanes.py`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from trainferry.devices.lanes import Beside, works_for


class LateConvolution(nn.Conv2d):
    """A convolution like any other; without a bias, its weight may learn beside the rest."""

    def forward(self, images: Tensor) -> Tensor:
        return convolve(images, self) if self.bias is None else super().forward(images)


def convolve(images: Tensor, convolution: nn.Conv2d) -> Tensor:
    """Do what the convolution does, but for its bias."""
    padding = convolution.padding
    assert not isinstance(padding, str)
    way = _Way(convolution.stride, padding, convolution.dilation, convolution.groups)
    return _convolve(images, convolution.weight, way)


def convolve_behind(images: Tensor, convolution: nn.Conv2d) -> Tensor:
    """Convolve every second pixel, 3 by 3, with one pixel of zeros behind the map alone.

    Libraries pad both sides alike. With zeros in front of its kernel, 4 by 4, so may this one, and
    the map need not be copied into a larger one.
    """
    return _convolve(images, convolution.weight, _Way((2, 2), (1, 1), (1, 1), 1, lead=1))


class _Way(NamedTuple):
    """How a kernel goes over a map; `lead` are rows and columns of zeros in front of it."""

    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int
    lead: int = 0

    def kernel(self, weight: Tensor) -> Tensor:
        return functional.pad(weight, (self.lead, 0, self.lead, 0)) if self.lead else weight

    def convolve(self, images: Tensor, kernel: Tensor) -> Tensor:
        given = self.stride, self.padding, self.dilation, self.groups
        return functional.conv2d(images, kernel, None, *given)


def _convolve(images: Tensor, weight: Tensor, way: _Way) -> Tensor:
    works = works_for(weight)
    if works is None or images.dtype != weight.dtype:
        return way.convolve(images, way.kernel(weight))
    result: Tensor = _Convolve.apply(images, weight, way, works)
    return result


class _Convolve(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, images: Tensor, weight: Tensor, way: _Way, works: Beside) -> Tensor:  # noqa: ANN401  # torch's
        kernel = way.kernel(weight)
        ctx.way, ctx.works = way, works
        ctx.save_for_backward(images, weight, kernel)
        return way.convolve(images, kernel)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401  # torch's
        images, weight, kernel = ctx.saved_tensors
        way: _Way = ctx.way

        def back(*wanted: bool) -> list[Tensor]:
            found: list[Tensor] = torch.ops.aten.convolution_backward(
                *(gradient, images, kernel, None, way.stride, way.padding, way.dilation),
                *(False, [0, 0], way.groups, [*wanted, False]),
            )
            return found

        def of_weight() -> Tensor:
            return back(False, True)[1][:, :, way.lead :, way.lead :]

        of_images = back(True, False)[0] if ctx.needs_input_grad[0] else None
        # A kernel that was made for this one lives as long as the work, like what it reads.
        made = (kernel,) if way.lead else ()
        ctx.works.add_gradient(weight, of_weight, (gradient, images, *made))
        return of_images, None, None, None
