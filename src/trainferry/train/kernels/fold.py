"""The first convolution of a network on pictures folded two by two.

Three channels suit no device: a convolution with stride 2 pads them and takes longer than many a
later layer. With each square of four pixels as one of twelve channels, and four of zeros behind
them, it is a convolution with stride 1 and half the kernel: the same products, in another order.

Shapes: B pictures, C <= 4 channels, K x K kernels, O outputs, M = the taps of the folded kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from trainferry.devices.kernels import runs_kernels
from trainferry.devices.precision import working_half

STRIDE = 2
_CHANNELS = 16
_MOST = _CHANNELS // STRIDE**2
_PIXELS = 64  # of one program


@dataclass(frozen=True)
class Padding:
    """Pixels of zeros around a picture."""

    top: int = 0
    bottom: int = 0
    left: int = 0
    right: int = 0


def folds(images: Tensor, convolution: torch.nn.Conv2d) -> bool:
    """Whether this is a first convolution that `convolve_folded` can take."""
    fits = convolution.stride == (STRIDE, STRIDE) and convolution.in_channels <= _MOST
    return (
        fits
        and convolution.bias is None
        and runs_kernels(images)
        and not images.requires_grad
        and working_half(images.device) is not None
    )


def convolve_folded(
    images: Tensor, weight: Tensor, padding: Padding, kind: torch.dtype | None = None
) -> Tensor:
    """Convolve with stride 2 in half precision, or in the format `kind`."""
    kind = kind or working_half(images.device)
    assert kind is not None
    pictures, _, height, width = images.shape
    rows = _Axis.of(height, weight.shape[2], padding.top, padding.bottom)
    columns = _Axis.of(width, weight.shape[3], padding.left, padding.right)
    folded = torch.empty(
        (pictures, _CHANNELS, rows.folded, columns.folded),
        dtype=kind,
        device=images.device,
        memory_format=torch.channels_last,
    )
    _fold(images, folded, rows.before, columns.before)
    return functional.conv2d(folded, _folded_weight(weight.to(kind), rows, columns))


@dataclass(frozen=True)
class _Axis:
    """One direction: folded pixels before the picture and in all, and taps of the kernel."""

    before: int
    lead: int
    taps: int
    kernel: int
    folded: int

    @classmethod
    def of(cls, size: int, kernel: int, before: int, behind: int) -> _Axis:
        outputs = (size + before + behind - kernel) // STRIDE + 1
        whole = -(-before // STRIDE)
        taps = (kernel - 1 - before) // STRIDE + whole + 1
        return cls(whole, STRIDE * whole - before, taps, kernel, outputs + taps - 1)

    @property
    def zeros(self) -> tuple[int, int]:
        """Zeros before and behind the kernel, which fill it up to whole squares."""
        return self.lead, STRIDE * self.taps - self.kernel - self.lead


def _folded_weight(weight: Tensor, rows: _Axis, columns: _Axis) -> Tensor:
    """Bring O C K K to O 16 M M."""
    full = functional.pad(weight, (*columns.zeros, *rows.zeros))
    squares = full.unflatten(3, (columns.taps, STRIDE)).unflatten(2, (rows.taps, STRIDE))
    twelve = squares.permute(0, 3, 5, 1, 2, 4).flatten(1, 3)
    sixteen = functional.pad(twelve, (0, 0, 0, 0, 0, _CHANNELS - twelve.shape[1]))
    return sixteen.contiguous(memory_format=torch.channels_last)


def _fold(images: Tensor, folded: Tensor, above: int, before: int) -> None:
    from trainferry.train.kernels.programs.fold import fold_pictures

    pictures, channels, height, width = images.shape
    rows, columns = folded.shape[2:]
    pixels = pictures * rows * columns
    fold_pictures[(-(-pixels // _PIXELS),)](
        *(images, folded, pixels, rows, columns, height, width, above, before),
        *images.stride(),
        COLOURS=channels,
        CHANNELS=_CHANNELS,
        PIXELS=_PIXELS,
    )
