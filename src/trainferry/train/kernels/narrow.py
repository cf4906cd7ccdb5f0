"""A 3 by 3 convolution with few channels, which libraries make for many.

The same function as torch's `conv2d` on a map with zeros around it, without making that map: the
padding may differ on both sides, as TensorFlow's does. A program reads nine shifted tiles, which a
near cache holds, and multiplies each with a ninth of the weight. The gradient of the features is
the same program on the way back; that of the weight is summed up by splits of the pixels.

Shapes: B pictures, C channels in, O out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from trainferry.devices.kernels import runs_kernels
from trainferry.devices.lanes import Beside, works_for
from trainferry.train.kernels.fold import Padding
from trainferry.train.kernels.norm import remake_of
from trainferry.train.kernels.rows import new_rows, power_of_two

MOST = 40  # channels in or out; with more, a library is as fast
MOST_PIXELS = 2**20  # of all pictures; what is faster with more has not been measured
_UNIT = 8  # values that a thread loads at once
_PIXELS_EACH, _SPLITS = 576, 128  # at least and at most, for the gradient of a weight
_JOINED = 64  # values of it that a program joins


@dataclass(frozen=True)
class Tiles:
    """How many pixels a program takes, and how many threads it has, in groups of 32."""

    pixels: int
    num_warps: int


TILES, TILES_OF_WEIGHT = Tiles(128, 8), Tiles(64, 4)


def is_narrow(images: Tensor, convolution: torch.nn.Conv2d) -> bool:
    """Whether `convolve_narrow` can take this convolution, with whatever padding it has."""
    sizes = images.shape[1], len(convolution.weight)
    return (
        convolution.kernel_size == (3, 3)
        and convolution.bias is None
        and all(size <= MOST and size % _UNIT == 0 for size in sizes)
        and images.dtype in (torch.bfloat16, torch.float16)
        and torch.is_grad_enabled()
        and runs_kernels(images)
        # Last: an export, where the number of pictures may be open, gets no opinion on it.
        and images.numel() // images.shape[1] <= MOST_PIXELS
    )


def convolve_narrow(images: Tensor, weight: Tensor, stride: int, padding: Padding) -> Tensor:
    narrow = weight.to(images.dtype)
    works = works_for(narrow) if narrow is weight else None
    result: Tensor = _Narrow.apply(images, narrow, stride, padding, works)
    return result


class _Narrow(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401 (torch's)
        images: Tensor,
        weight: Tensor,
        stride: int,
        padding: Padding,
        works: Beside | None,
    ) -> Tensor:
        images = images.contiguous(memory_format=torch.channels_last)
        rows, columns = images.shape[2:]
        height = (rows + padding.top + padding.bottom - 3) // stride + 1
        width = (columns + padding.left + padding.right - 3) // stride + 1
        result = new_rows(images, len(images), len(weight), height, width)
        ctx.stride, ctx.padding, ctx.works, ctx.shape = stride, padding, works, images.shape
        # Its weight learns beside the rest, where there is time to make the map again.
        ctx.remake = None if works is None else remake_of(images)
        ctx.save_for_backward(images if ctx.remake is None else None, weight)
        _convolve(images, weight, result, ctx, back=False)
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        images, weight = ctx.saved_tensors
        remake, ctx.remake = ctx.remake, None
        gradient = gradient.contiguous(memory_format=torch.channels_last)
        of_images = None
        if ctx.needs_input_grad[0]:
            of_images = new_rows(gradient, *ctx.shape)
            _convolve(gradient, weight, of_images, ctx, back=True)
        if ctx.works is None:
            return of_images, _of_weight(images, gradient, ctx), None, None, None

        def of_weight() -> Tensor:
            return _of_weight(images if remake is None else remake(), gradient, ctx)

        reads = (images,) if remake is None else remake.reads
        ctx.works.add_gradient(weight, of_weight, (gradient, *reads))
        return of_images, None, None, None, None


def _convolve(
    features: Tensor,
    weight: Tensor,
    result: Tensor,
    ctx: Any,  # noqa: ANN401 (torch's)
    *,
    back: bool,
) -> None:
    from trainferry.train.kernels.programs.narrow import convolve as program

    channels, outputs = features.shape[1], result.shape[1]
    pixels = result.numel() // outputs
    program[(-(-pixels // TILES.pixels),)](
        *(features, weight, result, pixels, *result.shape[2:], *features.shape[2:]),
        *(channels, outputs),
        *((weight.stride(0), weight.stride(1)) if back else (weight.stride(1), weight.stride(0))),
        weight.stride(3),
        STRIDE=ctx.stride,
        ABOVE=ctx.padding.top,
        LEFT=ctx.padding.left,
        BACK=back,
        PIXELS=TILES.pixels,
        CHANNELS=max(16, power_of_two(channels)),
        OUTPUTS=max(16, power_of_two(outputs)),
        num_warps=TILES.num_warps,
    )


def _of_weight(images: Tensor, gradient: Tensor, ctx: Any) -> Tensor:  # noqa: ANN401 (torch's)
    from trainferry.train.kernels.programs.narrow import join_weight, sum_up_weight

    channels, outputs = images.shape[1], gradient.shape[1]
    pixels = gradient.numel() // outputs
    tiles = -(-max(_PIXELS_EACH, -(-pixels // _SPLITS)) // TILES_OF_WEIGHT.pixels)
    each = tiles * TILES_OF_WEIGHT.pixels
    splits = -(-pixels // each)
    parts = images.new_empty((splits, 9, outputs, channels), dtype=torch.float32)
    sum_up_weight[splits, 3](
        *(images, gradient, parts, pixels, *gradient.shape[2:], *images.shape[2:], each),
        *(channels, outputs),
        STRIDE=ctx.stride,
        ABOVE=ctx.padding.top,
        LEFT=ctx.padding.left,
        PIXELS=TILES_OF_WEIGHT.pixels,
        CHANNELS=max(16, power_of_two(channels)),
        OUTPUTS=max(16, power_of_two(outputs)),
        num_warps=TILES_OF_WEIGHT.num_warps,
    )
    of_weight = new_rows(images, outputs, channels, 3, 3)
    join_weight[(-(-parts[0].numel() // _JOINED),)](
        *(parts, of_weight, splits, channels, outputs),
        SPLITS=power_of_two(splits),
        VALUES=_JOINED,
    )
    return of_weight
