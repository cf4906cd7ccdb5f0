"""Inception-v3 up to any of its endpoints: branches of different reach look at the same map.

Szegedy, Vanhoucke, Ioffe, Shlens and Wojna, 2015, https://arxiv.org/abs/1512.00567, in the form
of TensorFlow's slim library; `inception_v3_parts` lists what it is made of.

Shapes: V views of each of B samples, one view after the other in the batch; C channels.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn

from trainferry.devices.lanes import side_by_side
from trainferry.devices.precision import working_half
from trainferry.train.kernels.fan_out import fan_out
from trainferry.train.kernels.fold import Padding, convolve_folded, folds
from trainferry.train.kernels.joined import join
from trainferry.train.kernels.max_pool import Windows
from trainferry.train.kernels.mean_pool import mean_of_neighbours
from trainferry.train.kernels.rows import new_rows
from trainferry.train.networks.convolve import LateConvolution
from trainferry.train.networks.inception_v3_parts import (
    PARTS,
    Branch,
    Convolution,
    Step,
    endpoints_up_to,
)
from trainferry.train.networks.layers import (
    apply_norm,
    is_watched,
    norm_for_kernels,
    start_scaled,
)
from trainferry.train.networks.pool import WindowMax
from trainferry.train.networks.view_norm import ViewNorm


class InceptionV3(nn.Module):
    """Maps pictures to features; the norms of training see each of the `views` by itself.

    TensorFlow runs the views one after the other, so its moving averages take one step per view,
    the last view counting most. Ours take the sum of these steps, all norms together.
    """

    shares: Tensor

    def __init__(
        self, endpoint: str = "Mixed_5d", views: int = 1, norm_decay: float = 0.9997
    ) -> None:
        super().__init__()
        self.channels = 3
        for name in endpoints_up_to(endpoint):
            part = PARTS[name]
            if isinstance(part, tuple):
                block = _Block(self.channels, part, views)
                self.channels = block.channels
                self.add_module(name, block)
            else:
                layer, self.channels = _layer(self.channels, part, views)
                self.add_module(name, layer)
        steps = torch.tensor([norm_decay**later for later in reversed(range(views))])
        self.register_buffer("shares", (steps / steps.sum())[:, None], persistent=False)
        self.moved = 1 - norm_decay**views

    def forward(self, images: Tensor) -> Tensor:
        """Map pictures, V*B 3 H W, to features, V*B C h w."""
        if not self.training:
            return self._map(images)
        norms = [part for part in self.modules() if isinstance(part, ViewNorm)]
        channels = [len(norm.bias) for norm in norms]
        seen = self.shares.new_zeros(2, len(self.shares), sum(channels))
        for norm, part in zip(norms, seen.split(channels, 2), strict=True):
            norm.seen = part
        features = self._map(images)
        with torch.no_grad():
            averages = [each for norm in norms for each in (norm.running_mean, norm.running_var)]
            of_batch = (seen * self.shares).sum(1).split(channels, 1)
            torch._foreach_lerp_(averages, [row for pair in of_batch for row in pair], self.moved)
        return features

    def _map(self, images: Tensor) -> Tensor:
        for part in self.children():
            images = part(images)
        return images


class _Block(nn.Module):
    """Branches side by side, their channels joined."""

    def __init__(self, inputs: int, branches: tuple[Branch, ...], views: int) -> None:
        super().__init__()
        self.channels = 0
        for number, branch in enumerate(branches):
            chain, channels = nn.Sequential(), inputs
            for step in branch:
                layer, channels = _layer(channels, step, views)
                chain.add_module("fork" if isinstance(step, tuple) else step.name, layer)
            self.add_module(f"Branch_{number}", chain)
            self.channels += channels

    def forward(self, features: Tensor) -> Tensor:
        branches = list(self.children())
        given = [[one] for one in fan_out(features, len(branches))]
        lasts = [_last_layer(branch) for branch in branches]
        if not all(last is not None and last.can_write(features) for last in lasts):
            return torch.cat(side_by_side(branches, given), dim=1)
        pictures, _, height, width = features.shape
        joined = new_rows(features, pictures, self.channels, height, width)
        places = joined.split([last.channels for last in lasts if last is not None], 1)
        works = [partial(_write, *both) for both in zip(branches, places, strict=True)]
        return join(joined, side_by_side(works, given))


def _last_layer(branch: nn.Module) -> _Layer | None:
    """Return the last layer of a branch, if nobody wants to see what goes in and out of it."""
    assert isinstance(branch, nn.Sequential)
    last = branch[-1]
    return (
        last if isinstance(last, _Layer) and not (is_watched(branch) or is_watched(last)) else None
    )


def _write(branch: nn.Module, place: Tensor, features: Tensor) -> Tensor:
    """Let the last layer of a branch write into its channels of the joined map."""
    assert isinstance(branch, nn.Sequential)
    for layer in list(branch)[:-1]:
        features = layer(features)
    written: Tensor = branch[-1](features, place)
    return written


class _Layer(nn.Module):
    def __init__(self, inputs: int, step: Convolution, views: int) -> None:
        super().__init__()
        height, width = step.kernel
        padding = (height // 2, width // 2) if step.padded else (0, 0)
        self.convolution = LateConvolution(
            inputs, step.channels, step.kernel, step.stride, padding, bias=False
        )
        start_scaled(self.convolution.weight, scale=2.0, fan="in")
        self.channels = step.channels
        self.pooled = step.pooled
        self.keeps_size = step.padded and step.stride == 1
        self.norm = ViewNorm(step.channels, views)

    def can_write(self, features: Tensor) -> bool:
        """Whether this layer can write into channels of a map as large as these, and alike."""
        return (
            self.keeps_size
            and torch.is_grad_enabled()
            and norm_for_kernels(self.norm, features) is not None
            and working_half(features.device) in (None, features.dtype)
        )

    def forward(self, features: Tensor, into: Tensor | None = None) -> Tensor:
        if folds(features, self.convolution):
            features = convolve_folded(features, self.convolution.weight, Padding())
        else:
            features = self.convolution(features)
        if self.pooled:
            # The convolution is one pixel wide, so it may come first and leave less to average.
            features = mean_of_neighbours(features)
        return apply_norm(self.norm, features, into=into)


def _layer(inputs: int, step: Step, views: int) -> tuple[nn.Module, int]:
    """Build one step of a branch; return it with the number of its channels."""
    if isinstance(step, Convolution):
        return _Layer(inputs, step, views), step.channels
    if isinstance(step, tuple):
        fork = _Block(inputs, tuple((each,) for each in step), views)
        return fork, fork.channels
    return WindowMax(Windows((3, 3), (2, 2))), inputs
