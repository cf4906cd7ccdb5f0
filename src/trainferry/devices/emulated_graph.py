"""Graphs of the emulated NPU: what runs while one is recorded is noted down, and done at replays.

Names and arguments are those of torch_npu's module, which are CUDA's. There is one order of all
work, so streams are names alone: what would go wrong between two of them is not seen here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import count
from typing import Any

import torch
from torch import Tensor

_PRIVATE = 20  # torch's number of devices that it does not know itself
_numbers = count(1)


class NPUGraph:
    """Work that is done again in its order, on the memory that it was recorded with."""

    def __init__(self) -> None:
        self._steps: list[Callable[[], object]] = []
        self._written: list[tuple[Tensor, Tensor]] = []

    def note(self, step: Callable[[], object]) -> None:
        """Let replays do this, with the number formats that hold now."""
        half = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else None

        def do() -> None:
            with nullcontext() if half is None else torch.autocast("cpu", half):
                step()

        self._steps.append(do)

    def keep(self, tensor: Tensor) -> None:
        """Remember what is about to be written over: a recording changes nothing."""
        if tensor.numel():  # what is empty gets memory of its own
            self._written.append((tensor, tensor.clone()))

    def end(self) -> None:
        for tensor, before in reversed(self._written):
            tensor.copy_(before)
        self._written.clear()

    def replay(self) -> None:
        with torch.no_grad():
            for step in self._steps:
                step()


class Stream(torch.Stream):
    """A name for some of the work, all of which is done in one order."""

    def __new__(cls, device: torch.device | None = None, priority: int = 0) -> Stream:
        del device, priority
        place: dict[str, Any] = {
            "stream_id": next(_numbers),
            "device_index": 0,
            "device_type": _PRIVATE,
        }
        return super().__new__(cls, **place)

    def wait_stream(self, other: torch.Stream) -> None:
        """Nothing that was started is still under way."""

    def wait_event(self, event: object) -> None:
        """Nothing that was started is still under way."""


class Event:
    """A moment in that order."""

    def record(self, stream: torch.Stream | None = None) -> None:
        """All that was started before is done."""

    def synchronize(self) -> None:
        """All that was started before is done."""


class _Now:
    """What is recorded, and on which stream work is started."""

    graph: NPUGraph | None = None
    stream: torch.Stream | None = None


def recorded() -> NPUGraph | None:
    return _Now.graph


def is_current_stream_capturing() -> bool:
    return _Now.graph is not None


def current_stream(device: torch.device | None = None) -> torch.Stream:
    if _Now.stream is None:
        _Now.stream = Stream(device)
    return _Now.stream


@contextmanager
def stream(chosen: torch.Stream) -> Iterator[None]:
    before, _Now.stream = current_stream(), chosen
    try:
        yield
    finally:
        _Now.stream = before


@contextmanager
def graph(
    npu_graph: NPUGraph,
    pool: object = None,
    stream: torch.Stream | None = None,
    auto_dispatch_capture: bool = False,
    capture_error_mode: str = "global",
) -> Iterator[None]:
    """Record what is started inside; random numbers and memory are behind it what they were."""
    del pool, auto_dispatch_capture, capture_error_mode
    before, generator = current_stream(), torch.get_rng_state()
    _Now.stream, _Now.graph = stream or Stream(), npu_graph
    try:
        yield
    finally:
        _Now.stream, _Now.graph = before, None
        torch.set_rng_state(generator)
        npu_graph.end()


def make_graphed_callables(
    callables: torch.nn.Module, sample_args: tuple[Tensor, ...]
) -> torch.nn.Module:
    """Return the network, which computes what its recording would."""
    del sample_args
    return callables
