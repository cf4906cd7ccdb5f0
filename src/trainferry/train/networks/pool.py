"""Max pooling, in the way that is fastest where the map lies."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from trainferry.devices.kernels import runs_kernels
from trainferry.train.kernels.max_pool import MaxPool, Windows


def max_pool(images: Tensor, windows: Windows) -> Tensor:
    """Return the largest value of each window; padding counts as less than every number."""
    if torch.is_grad_enabled() and images.requires_grad and runs_kernels(images):
        result: Tensor = MaxPool.apply(images, windows)
        return result
    if windows.top == windows.bottom and windows.left == windows.right:
        padding = windows.top, windows.left
        return functional.max_pool2d(images, windows.size, windows.stride, padding)
    sides = [windows.left, windows.right, windows.top, windows.bottom]
    padded = functional.pad(images, sides, value=-math.inf)
    return functional.max_pool2d(padded, windows.size, windows.stride)


class WindowMax(nn.Module):
    """The largest of every second 3x3 pixels, or of what other windows there are."""

    def __init__(self, windows: Windows) -> None:
        super().__init__()
        self.windows = windows

    def forward(self, images: Tensor) -> Tensor:
        return max_pool(images, self.windows)
