"""A network's forward and backward pass recorded once and replayed, where a device can do that.

A network of hundreds of small layers keeps a GPU waiting for the program that starts its kernels;
replayed as one graph they follow each other without a gap.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from trainferry.devices.device import KINDS, is_emulated
from trainferry.devices.precision import Precision, half_of


def capture_helps(device: torch.device) -> bool:
    return KINDS[device.type].captures and not is_emulated(device)


def capture(network: nn.Module, examples: Sequence[Tensor], precision: Precision) -> None:
    """Record the network in its training mode; inputs must keep the shapes of the `examples`.

    Gradients of a replayed backward pass stay valid until the next one: no accumulation.
    Statistics that the rehearsals before the recording move are put back.
    """
    kept = [(buffer, buffer.clone()) for buffer in network.buffers()]
    device = examples[0].device
    half = half_of(precision)
    # Gradients are made on the stream of the recording and used on another: that is meant.
    torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False)
    with (
        warnings.catch_warnings(),
        torch.autocast(device.type, dtype=half, enabled=half is not None, cache_enabled=False),
    ):
        warnings.filterwarnings("ignore", message="Attempting to run cuBLAS")
        torch.cuda.make_graphed_callables(network, tuple(examples))
    with torch.no_grad():
        for buffer, value in kept:
            buffer.copy_(value)
