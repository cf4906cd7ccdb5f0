"""Independent work at the same time, where a device records it.

Small layers leave most of a large device idle. In a recording, work on several streams becomes
branches of one graph, forwards and backwards; started one by one there would be nothing to gain,
since the program that starts the layers is what they wait for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor

from trainferry.devices.capture import URGENT, is_recording

Made = TypeVar("Made")

_MOST = 16  # works that are side by side
_LANES = 4  # for work beside the rest
_HELD_BYTES = 2**25  # of what such work reads, for each stream


def side_by_side(
    works: Sequence[Callable[..., Made]], inputs: Sequence[Sequence[Tensor]]
) -> list[Made]:
    """Give each work its inputs and return what each makes of them: a tensor, or a tuple of some.

    A work may have works of its own side by side.
    """
    device = inputs[0][0].device
    if not is_recording(device):
        return [work(*given) for work, given in zip(works, inputs, strict=True)]
    module: Any = torch.get_device_module(device)
    here = module.current_stream(device)
    first = _first.get()
    lanes = [here, *(_side(device, first + number, URGENT) for number in range(1, len(works)))]
    for lane in lanes[1:]:
        lane.wait_stream(here)
    # Works inside of others have lanes of their own: on the way back they would be in the way.
    token = _first.set(first + _MOST)
    results = []
    for work, given, lane in zip(works, inputs, lanes, strict=True):
        with module.stream(lane):
            results.append(work(*given))
        # Memory may be used again only when all lanes that read it are done.
        for tensor in given:
            tensor.record_stream(lane)
    _first.reset(token)
    for lane, result in zip(lanes[1:], results[1:], strict=True):
        here.wait_stream(lane)
        for tensor in _tensors_of(result):
            tensor.record_stream(here)
    return results


def _tensors_of(result: object) -> Iterator[Tensor]:
    for each in result if isinstance(result, tuple) else (result,):
        if isinstance(each, Tensor):
            yield each


_first: ContextVar[int] = ContextVar("first", default=0)  # behind it, numbers of lanes are free


def current_lane(device: torch.device) -> object:
    """Return what work is started on now, while a recording has several; else None.

    Memory that a lane has made may be used again as soon as that lane is done with it: whoever
    reads it on another must be known to it, as what `side_by_side` hands out is.
    """
    if not is_recording(device):
        return None
    module: Any = torch.get_device_module(device)
    return module.current_stream(device)


class Beside:
    """Gradients of weights, made beside all other work of a recording.

    The way back waits for gradients of features alone; nobody reads these before its end. In a
    recording a weight must have one reader, since nothing orders the work of two.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._lanes: dict[Any, Any] = {}
        self._held: dict[Any, deque[_Held]] = {}

    def add_gradient(
        self, weight: Tensor, make: Callable[[], Tensor], reads: Sequence[Tensor]
    ) -> None:
        """Add what `make` makes of these tensors to the gradient of a weight.

        Their memory stays theirs until the current stream has waited for that: not all are held.
        """

        def work() -> None:
            made = make()
            weight.grad = made if weight.grad is None else weight.grad + made

        if not is_recording(self._device):
            work()
            return
        if weight.grad is not None:
            raise RuntimeError("a weight with several readers cannot learn beside the rest")
        module: Any = torch.get_device_module(self._device)
        here = module.current_stream(self._device)
        if here not in self._lanes:
            self._lanes[here] = _side(self._device, len(self._lanes) % _LANES, 0)
            self._held[here] = deque()
        lane, held = self._lanes[here], self._held[here]
        lane.wait_stream(here)
        with module.stream(lane):
            work()
        done = module.Event()
        done.record(lane)
        held.append(_Held(done, tuple(reads)))
        while len(held) > 1 and sum(each.bytes for each in held) > _HELD_BYTES:
            here.wait_event(held.popleft().done)

    def join(self) -> None:
        """Let the current stream wait for all of it."""
        for lane in self._lanes.values():
            torch.get_device_module(self._device).current_stream(self._device).wait_stream(lane)
        self._held.clear()
        self._lanes.clear()


class _Held(NamedTuple):
    """What work reads, until it is done."""

    done: Any
    tensors: tuple[Tensor, ...]

    @property
    def bytes(self) -> int:
        return sum(each.nbytes for each in self.tensors)


@contextmanager
def beside(device: torch.device) -> Iterator[None]:
    """Inside, networks may leave gradients to `works_for`; all are there at the end."""
    works = Beside(device)
    token = _works.set(works)
    try:
        yield
        works.join()
    finally:
        _works.reset(token)


def works_for(weight: Tensor) -> Beside | None:
    """Return who makes the gradient of a weight beside the rest, if somebody may."""
    learns = weight.is_leaf and weight.requires_grad and torch.is_grad_enabled()
    return _works.get() if learns else None


_works: ContextVar[Beside | None] = ContextVar("works", default=None)


@cache
def _side(device: torch.device, number: int, priority: int) -> Any:  # noqa: ANN401  # of any backend
    """Return the stream of that number and priority, the same one each time."""
    del number
    module: Any = torch.get_device_module(device)
    return module.Stream(device, priority=priority)
