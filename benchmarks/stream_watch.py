"""Streams that do nothing but remember: who waits for whom, and what each one reads and writes.

Takes the place of a device's module while a step is walked through on torch's `meta` device. What
comes of it is the list of all memory that was asked for and given back, in the program's order,
and whoever read on one stream what another had not written yet.

Order is told by clocks. Every stream counts what it is given to do, and knows how far the others
were when it last waited for them. What autograd does is followed: a node goes back on the stream
that it came on, waits for the gradients that it gets, and tells the allocator that it reads them;
and behind the whole way back the program's stream waits for those on which weights got theirs.
"""

from __future__ import annotations

import sys
import weakref
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

_FRAMES = 3  # of ours, that say where something happened
_NO_VALUES = ("aten::empty", "aten::new_empty")

Clock = dict[int, int]  # how far each stream was


class Stream:
    """Work in order. What it waited for is done before all that it is given later."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.clock: Clock = {number: 0}

    def begin(self) -> int:
        self.clock[self.number] += 1
        return self.clock[self.number]

    def wait(self, clock: Clock) -> None:
        for number, moment in clock.items():
            self.clock[number] = max(moment, self.clock.get(number, 0))

    def wait_stream(self, other: Stream) -> None:
        self.wait(other.clock)

    def wait_event(self, event: Event) -> None:
        self.wait(event.clock)


class Event:
    """A moment of a stream."""

    clock: Clock

    def record(self, stream: Stream) -> None:
        self.clock = dict(stream.clock)


class Graph:
    """What comes of recording."""

    def replay(self) -> None:
        """Nothing would happen."""


class Area(NamedTuple):
    """Some channels of a map, in elements: `channels` of every `row`, from the `start`-th one."""

    start: int
    channels: int
    row: int

    def meets(self, other: Area) -> bool:
        apart = self.start >= other.start + other.channels or other.start >= (
            self.start + self.channels
        )
        return self.row != other.row or not apart


WHOLE = Area(0, 1, 0)


class Touch(NamedTuple):
    """What a stream did with some memory, and when."""

    stream: int
    moment: int
    area: Area

    def is_known_to(self, stream: Stream) -> bool:
        return stream.clock.get(self.stream, 0) >= self.moment


@dataclass(eq=False)
class Memory:
    """Bytes that belong to the stream that asked for them."""

    size: int
    owner: int
    where: str
    backwards: bool
    """Whether it was made on the way back."""
    reads: list[Touch] = field(default_factory=list)
    writes: list[Touch] = field(default_factory=list)
    readers: set[int] = field(default_factory=set)
    """Other streams that the allocator was told of."""
    alive: object = None

    def uses(self) -> Clock:
        found: Clock = {}
        for touch in (*self.reads, *self.writes):
            found[touch.stream] = max(touch.moment, found.get(touch.stream, 0))
        return found


class Turn(NamedTuple):
    """Memory is asked for, with what its stream knows then; or, without that, given back.

    Memory that was there before the recording is never asked for.
    """

    memory: Memory
    clock: Clock | None


class Watch(TorchDispatchMode):
    """Sees all operators, and our kernels by `start`, from the moment of `recording`."""

    def __init__(self) -> None:
        super().__init__()
        self.recording = False
        self.turns: list[Turn] = []
        self.disorder: Counter[str] = Counter()
        self.before = 0  # bytes of the memory that was there
        self._streams: list[Stream] = []
        self._main = self.Stream()
        self._chosen: list[tuple[int | None, Stream]] = []
        self._begins: list[int] = [0]  # numbers of autograd's nodes, and their streams
        self._stream_from: list[Stream] = [self._main]
        self._live: dict[int, Memory] = {}
        self._learnt_on: set[Stream] = set()

    # What `devices/` asks of a device's module.

    Event, CUDAGraph = Event, Graph

    def Stream(self, *_: object, **__: object) -> Stream:  # noqa: N802  # torch's name
        self._streams.append(Stream(len(self._streams)))
        return self._streams[-1]

    def current_stream(self, _device: object = None) -> Stream:
        node = _node()
        if self._chosen and self._chosen[-1][0] == node:
            return self._chosen[-1][1]
        if node is None:
            return self._main
        return self._stream_from[bisect_right(self._begins, node) - 1]

    @contextmanager
    def stream(self, stream: Stream) -> Iterator[None]:
        node = _node()
        self._chosen.append((node, stream))
        self._note_stream(node)
        yield
        self._chosen.pop()
        self._note_stream(node)

    def is_current_stream_capturing(self) -> bool:
        return self.recording

    @contextmanager
    def graph(self, _graph: Graph, *, stream: Stream, **_: object) -> Iterator[None]:
        self.recording = True
        with self.stream(stream), self:
            yield
        self.recording = False

    @staticmethod
    def manual_seed_all(_seed: int) -> None:
        """Nobody draws here."""

    def record_stream(self, tensor: Tensor, stream: Stream) -> None:
        if self.recording and self._memory(tensor).owner != stream.number:
            self._memory(tensor).readers.add(stream.number)

    def _note_stream(self, node: int | None) -> None:
        """Nodes that are made from now on go back on the current stream."""
        if node is None:
            self._begins.append(torch.autograd._get_sequence_nr())
            self._stream_from.append(self.current_stream())

    def count_streams(self) -> int:
        """How many streams were given something to do."""
        return sum(each.clock[each.number] > 0 for each in self._streams)

    # What is seen.

    def __torch_dispatch__(
        self,
        work: Any,  # noqa: ANN401
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        del types
        made = work(*args, **(kwargs or {}))
        if self.recording:
            given = _tensors((args, kwargs))
            self._see_operator(work, given, _changed(work, args, kwargs or {}), _tensors(made))
        return made

    def _see_operator(
        self,
        work: Any,  # noqa: ANN401
        given: list[Tensor],
        changed: list[Tensor],
        made: list[Tensor],
    ) -> None:
        known = {_key(each) for each in given}
        new = [each for each in made if _key(each) not in known]
        for each in new:
            self._ask(each)
        if work.name().startswith(_NO_VALUES):
            return
        if new or changed or not made:  # a view alone is no work
            self._see(given, [*new, *changed])

    def start(self, *given: object) -> None:
        """See a kernel: what nobody has written yet it writes, all else it reads."""
        if self.recording:
            tensors = _tensors(given)
            fresh = [each for each in tensors if self._is_fresh(each)]
            self._see([each for each in tensors if not self._is_fresh(each)], fresh)

    def see(self, read: list[Tensor], written: list[Tensor]) -> None:
        """See work that gets no tensors."""
        if self.recording:
            self._see(read, written)

    def _is_fresh(self, tensor: Tensor) -> bool:
        area = _area(tensor)
        return not any(area.meets(each.area) for each in self._memory(tensor).writes)

    def _see(self, read: list[Tensor], written: list[Tensor]) -> None:
        stream = self.current_stream()
        self._follow_autograd(stream, read)
        moment = stream.begin()
        for tensor in read:
            memory, touch = self._memory(tensor), Touch(stream.number, moment, _area(tensor))
            self._check(stream, touch, memory, memory.writes, "read before it is written")
            _add(memory.reads, touch)
        for tensor in written:
            memory, touch = self._memory(tensor), Touch(stream.number, moment, _area(tensor))
            self._check(stream, touch, memory, memory.reads, "written while it is read")
            self._check(stream, touch, memory, memory.writes, "written by two")
            _add(memory.writes, touch)

    def _check(
        self, stream: Stream, touch: Touch, memory: Memory, others: list[Touch], wrong: str
    ) -> None:
        for other in others:
            if touch.area.meets(other.area) and not other.is_known_to(stream):
                self.disorder[f"{wrong}: {memory.where}, by {_where()}"] += 1

    def _follow_autograd(self, stream: Stream, read: list[Tensor]) -> None:
        node = _node()
        if node is None:
            for other in self._learnt_on:
                stream.wait_stream(other)
            self._learnt_on.clear()
            return
        if self._chosen and self._chosen[-1][0] == node:
            return  # a stream that we chose: we wait ourselves
        self._learnt_on.add(stream)
        for memory in map(self._memory, read):
            if memory.backwards and memory.owner != stream.number:
                stream.wait_stream(self._streams[memory.owner])
                memory.readers.add(stream.number)

    def _ask(self, tensor: Tensor) -> None:
        """Let the current stream have new memory."""
        if _key(tensor) in self._live:
            return
        owner = self.current_stream()
        memory = self._begin(tensor, owner.number)
        self.turns.append(Turn(memory, dict(owner.clock)))

    def _memory(self, tensor: Tensor) -> Memory:
        """Return what a tensor lives in; what is not known was there, and written, before."""
        if _key(tensor) not in self._live:
            memory = self._begin(tensor, self._main.number)
            memory.writes.append(Touch(self._main.number, 0, WHOLE))
            self.before += memory.size
        return self._live[_key(tensor)]

    def _begin(self, tensor: Tensor, owner: int) -> Memory:
        storage, key = tensor.untyped_storage(), _key(tensor)
        memory = Memory(storage.nbytes(), owner, _where(), _node() is not None)
        memory.alive = weakref.ref(storage, lambda _: self._forget(key, memory))
        self._live[key] = memory
        return memory

    def _forget(self, key: int, memory: Memory) -> None:
        del self._live[key]
        self.turns.append(Turn(memory, None))


def _node() -> int | None:
    """The number of the node of autograd that now goes back."""
    node = torch._C._current_autograd_node()
    return None if node is None else node._sequence_nr()


def _key(tensor: Tensor) -> int:
    return tensor.untyped_storage()._cdata


def _tensors(tree: object) -> list[Tensor]:
    return [each for each in tree_flatten(tree)[0] if isinstance(each, Tensor)]


def _changed(work: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Tensor]:  # noqa: ANN401
    """The arguments that an operator writes."""
    given = dict(zip((each.name for each in work._schema.arguments), args, strict=False))
    given.update(kwargs)
    return [
        tensor
        for each in work._schema.arguments
        if each.alias_info is not None and each.alias_info.is_write
        for tensor in _tensors(given.get(each.name))
    ]


def _area(tensor: Tensor) -> Area:
    """Which channels of its memory a tensor has; all of it, unless it is a part of a larger map."""
    if tensor.dim() != 4 or tensor.stride(1) != 1 or tensor.stride(3) <= tensor.shape[1]:
        return WHOLE
    row = tensor.stride(3)
    return Area(tensor.storage_offset() % row, tensor.shape[1], row)


def _add(touches: list[Touch], touch: Touch) -> None:
    """Keep the newest of each stream and area."""
    for place, other in enumerate(touches):
        if (other.stream, other.area) == (touch.stream, touch.area):
            touches[place] = touch
            return
    touches.append(touch)


def _where() -> str:
    """The innermost places of ours."""
    frame, found = sys._getframe(1), []
    while frame is not None and len(found) < _FRAMES:
        before, _, name = frame.f_code.co_filename.rpartition("/trainferry/")
        if before:
            found.append(f"{name}:{frame.f_lineno}")
        frame = frame.f_back
    return " < ".join(found)
