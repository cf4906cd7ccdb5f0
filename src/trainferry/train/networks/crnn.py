"""CRNN: convolutions see columns, a recurrent network reads them.

Shi, Bai and Yao, 2015, https://arxiv.org/abs/1507.05717, in the form of the
TensorFlow 1.15 originals: batch normalisation after every convolution, and a
seventh convolution that keeps the width.

Shapes: B pictures, W pixels wide, T = W/4 columns, K classes (blank is the last).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from trainferry.devices.kernels import runs_kernels
from trainferry.train.kernels.bias import normalise_biased
from trainferry.train.kernels.lstm import State, read_by_time
from trainferry.train.kernels.max_pool import Windows
from trainferry.train.networks.convolve import LateConvolution, convolve
from trainferry.train.networks.layers import (
    Pool,
    apply_norm,
    is_watched,
    norm_for_kernels,
    pool_normalised,
)
from trainferry.train.networks.pool import max_pool

HEIGHT = 32
CHANNELS = (64, 128, 256, 256, 512, 512, 512)
_QUARTER = partial(max_pool, windows=Windows((2, 2), (2, 2)))
_HALF_AS_HIGH = partial(max_pool, windows=Windows((2, 1), (2, 1)))


class CRNN(nn.Module):
    """Reads one line of text, one score per class and column; trained with CTC."""

    def __init__(
        self,
        classes: int,
        channels: Sequence[int] = CHANNELS,
        hidden: int = 256,
        layers: int = 2,
        dropout: float = 0.5,
        norm_decay: float = 0.999,
        identical_kernels: bool = False,
    ) -> None:
        super().__init__()
        self.convolutions = _Convolutions(channels, norm_decay)
        self.recurrence = ForgetBiasLSTM(channels[-1], hidden, layers)
        if identical_kernels:
            self.recurrence.start_identical()
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(2 * hidden, classes, bias=False)
        nn.init.trunc_normal_(self.classifier.weight, std=0.2, a=-0.4, b=0.4)

    def forward(self, images: Tensor) -> Tensor:
        """Map pictures, B 3 32 W in [-1, 1], to class scores, B T K."""
        columns = self.convolutions(images).squeeze(2).transpose(1, 2)  # B T C
        read, _ = self.recurrence(columns)  # B T 2*hidden
        return self.classifier(self.dropout(read))


def columns_of(width: int) -> int:
    """How many columns CTC gets to see of a picture `width` pixels wide."""
    return width // 4


class ForgetBiasLSTM(nn.LSTM):
    """A bidirectional LSTM with the parameters of TensorFlow's cells, no more.

    PyTorch's cell adds two biases; TensorFlow has one, and a forget bias of 1 that
    is neither stored nor trained. So `bias_ih` is TensorFlow's bias as it is, and
    `bias_hh` a constant that holds the forget bias: trained together, the two
    PyTorch biases would move twice as fast as the original's.
    """

    def __init__(self, inputs: int, hidden: int, layers: int) -> None:
        super().__init__(inputs, hidden, layers, batch_first=True, bidirectional=True)
        forget_bias = torch.zeros(4 * hidden)
        forget_bias[hidden : 2 * hidden] = 1.0  # PyTorch's gates: i, f, g, o
        for name in [name for name, _ in self.named_parameters() if name.startswith("bias_hh")]:
            delattr(self, name)
            self.register_buffer(name, forget_bias.clone())
        self._init_flat_weights()

        for name, weight in self.named_parameters():
            if name.startswith("bias"):
                nn.init.zeros_(weight)
        _init_as_glorot_kernels(self)

    def forward(  # type: ignore[override]  # nobody packs columns
        self, columns: Tensor, state: State | None = None
    ) -> tuple[Tensor, State]:
        if state is None and self.training and runs_kernels(columns) and not is_watched(self):
            return read_by_time(self, columns)
        return super().forward(columns, state)

    @torch.no_grad()
    def start_identical(self) -> None:
        """Give every cell the kernel of the first, where the shapes are the same."""
        weights = dict(self.named_parameters())
        for name, weight in weights.items():
            first = weights[f"{name.split('_l')[0]}_l0"]
            if first.shape == weight.shape:
                weight.copy_(first)


class _Convolutions(nn.Module):
    """The seven convolutions: B 3 32 W to B C 1 T."""

    def __init__(self, channels: Sequence[int], norm_decay: float) -> None:
        super().__init__()
        inputs = (3, *channels[:-1])
        for number, (before, after) in enumerate(zip(inputs, channels, strict=True), start=1):
            if number < 7:
                convolution = LateConvolution(before, after, 3, padding=1, bias=number <= 2)
            else:
                convolution = LateConvolution(before, after, 2, stride=(2, 1), bias=False)
            _init_as_variance_scaling(convolution)
            self.add_module(f"conv{number}", convolution)
            self.add_module(f"norm{number}", nn.BatchNorm2d(after, 1e-3, 1 - norm_decay))

    def forward(self, x: Tensor) -> Tensor:
        x = self._layer(1, x, _QUARTER)  # B c1 16 W/2
        x = self._layer(2, x, _QUARTER)  # B c2  8 T
        x = self._layer(4, self._layer(3, x), _HALF_AS_HIGH)  # B c4  4 T
        x = self._layer(6, self._layer(5, x), _HALF_AS_HIGH)  # B c6  2 T
        x = functional.pad(x, (0, 1))  # SAME for a 2 wide kernel pads on the right only
        return self._layer(7, x)  # B c7  1 T

    def _layer(self, number: int, x: Tensor, pool: Pool | None = None) -> Tensor:
        convolution, norm = (self.get_submodule(f"{kind}{number}") for kind in ("conv", "norm"))
        assert isinstance(convolution, nn.Conv2d)
        known = norm_for_kernels(norm, x)
        if convolution.bias is None or known is None or is_watched(convolution):
            x = convolution(x)
            return apply_norm(norm, x) if pool is None else pool_normalised(norm, x, pool)
        x = normalise_biased(convolve(x, convolution), convolution.bias, known, rectified=True)
        return x if pool is None else pool(x)


def _init_as_variance_scaling(convolution: nn.Conv2d) -> None:
    """Truncated normal with variance 2 / fan-in, as tf.contrib computes it."""
    fan_in = convolution.weight[0].numel()
    deviation = (1.3 * 2.0 / fan_in) ** 0.5
    nn.init.trunc_normal_(convolution.weight, std=deviation, a=-2 * deviation, b=2 * deviation)
    if convolution.bias is not None:
        nn.init.zeros_(convolution.bias)


def _init_as_glorot_kernels(recurrence: nn.LSTM) -> None:
    """Glorot uniform over the joined kernel [inputs + hidden, 4 * hidden] of a TensorFlow cell."""
    for name, weight in recurrence.named_parameters():
        if not name.startswith("weight"):
            continue
        layer = int(name.split("_")[2][1:])
        inputs = recurrence.input_size if layer == 0 else 2 * recurrence.hidden_size
        fans = inputs + recurrence.hidden_size + 4 * recurrence.hidden_size
        nn.init.uniform_(weight, -((6.0 / fans) ** 0.5), (6.0 / fans) ** 0.5)
