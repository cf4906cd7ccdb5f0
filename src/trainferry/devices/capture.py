"""Work recorded once and replayed, where a device can do that: a whole step, or a network.

Hundreds of small layers keep a GPU waiting for the program that starts their kernels; replayed as
one graph they follow each other without a gap.
"""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from trainferry.devices.device import KINDS
from trainferry.devices.precision import Precision, half_of
from trainferry.errors import DeviceError

VARIABLE = "TRAINFERRY_GRAPHS"  # "on" records where nobody could try it, too
REHEARSALS = 3
URGENT = -1  # the priority of work that other work waits for; that of all else is 0

Work = Callable[[], tuple[Tensor, ...]]


def capture_helps(device: torch.device) -> bool:
    """Whether work on the device is recorded: where that was tried, and where the user asks."""
    kind = KINDS[device.type]
    if not kind.graph or not (kind.records or os.environ.get(VARIABLE) == "on"):
        return False
    if not hasattr(torch.get_device_module(device), kind.graph):
        raise DeviceError(
            f"`torch.{device.type}` has no `{kind.graph}`, which would record steps",
            hint=f"install a newer package for this device, or unset {VARIABLE}",
        )
    return True


def is_recording(device: torch.device) -> bool:
    """Whether the device now notes down what it is told instead of doing it."""
    if device.type not in KINDS or not capture_helps(device):
        return False
    module: Any = torch.get_device_module(device)
    return bool(module.is_current_stream_capturing())


class Recorded:
    """Work on tensors that stay where they are: done a few times, then recorded and replayed.

    The first calls do the work as it is, so that all libraries have made their choices before
    the recording. Where the device records nothing, every call is like that. What a call returns
    holds until the next one. Random numbers follow the seed that is set before a call; whatever
    else the host decides inside the work stays as it was when it was recorded.
    """

    def __init__(self, work: Work, device: torch.device) -> None:
        self._work = work
        self._device = device
        self._records = capture_helps(device)
        self._rehearsals = 0
        self._graph: _Graph | None = None
        self._stream: Any = None
        self._results: tuple[Tensor, ...] = ()

    @property
    def is_recorded(self) -> bool:
        return self._graph is not None

    def __call__(self) -> tuple[Tensor, ...]:
        if not self._records:
            return self._work()
        if self._graph is None and self._rehearsals < REHEARSALS:
            self._rehearsals += 1
            return self._rehearse()
        if self._graph is None:
            self._graph = self._record()
        self._graph.replay()
        return self._results

    def _rehearse(self) -> tuple[Tensor, ...]:
        """Work on the stream of the recording: autograd remembers where gradients were made."""
        module: Any = torch.get_device_module(self._device)
        if self._stream is None:
            torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False)
            self._stream = module.Stream(self._device, priority=URGENT)
        outside = module.current_stream(self._device)
        self._stream.wait_stream(outside)
        with _quietly(), module.stream(self._stream):
            results = self._work()
        outside.wait_stream(self._stream)
        return results

    def _record(self) -> _Graph:
        gc.collect()  # what is freed while the device records would be part of the recording
        try:
            with _quietly(), _recording(self._device, self._stream) as graph:
                self._results = self._work()
        except RuntimeError as error:
            raise DeviceError(
                f"the training step could not be recorded: {str(error).splitlines()[0]}",
                hint="pass --set loop.captured=false: steps take longer and need no recording",
            ) from error
        return graph


class _Graph(Protocol):
    def replay(self) -> None: ...


@contextmanager
def _recording(device: torch.device, stream: Any) -> Iterator[_Graph]:  # noqa: ANN401  # of any backend
    """Record what is started inside; other threads, which read data, may go on.

    By the module of the device: `torch.accelerator.Graph`, where torch has it, does not know CUDA
    (pytorch/pytorch#171313), and torch_npu's graphs have the names and arguments of CUDA's.
    """
    module: Any = torch.get_device_module(device)
    graph: Any = getattr(module, KINDS[device.type].graph)()
    with module.graph(graph, stream=stream, capture_error_mode="thread_local"):
        yield graph


@contextmanager
def _quietly() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Attempting to run cuBLAS")
        warnings.filterwarnings("ignore", message="This instance was constructed with capturable")
        yield


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
        _quietly(),
        torch.autocast(device.type, dtype=half, enabled=half is not None, cache_enabled=False),
    ):
        module: Any = torch.get_device_module(device)
        module.make_graphed_callables(network, tuple(examples))
    with torch.no_grad():
        for buffer, value in kept:
            buffer.copy_(value)
