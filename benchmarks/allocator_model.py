"""How torch's allocator hands out a device's memory to the streams of a recording.

Each stream has its own, in segments that are never given back before the recording ends. A request
gets the smallest piece that is large enough; what is left of it stays for others. Memory that other
streams were said to read is not used again. With `expandable` segments, a stream has one for small
and one for large requests, and they grow.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from stream_watch import Clock, Memory, Turn

_MIB = 2**20
_UNIT = 512
_SMALL = 1 * _MIB  # requests up to here share segments of their own
_SMALL_SEGMENT, _SEGMENT, _LARGE, _GRAIN = 2 * _MIB, 20 * _MIB, 10 * _MIB, 2 * _MIB


class Piece(NamedTuple):
    size: int
    segment: int
    start: int

    @property
    def end(self) -> int:
        return self.start + self.size


class Lot(NamedTuple):
    """Segments of one stream, for small requests or for others."""

    stream: int
    is_small: bool


class Used(NamedTuple):
    """A piece that was given back, and who may still be using it."""

    piece: Piece
    memory: Memory
    until: Clock


@dataclass
class Told:
    """What was asked for at most at any time, and what was taken from the device for it."""

    held: int = 0
    taken: int = 0
    kept_back: int = 0
    """Bytes that were not used again because several streams read them."""
    too_early: Counter[str] = field(default_factory=Counter)
    """Memory that was given to a next one while another stream might still use it."""


class Allocator:
    """With `apart` false, it does as if all streams were one."""

    def __init__(self, *, expandable: bool = False, apart: bool = True) -> None:
        self.told = Told()
        self._expandable = expandable
        self._apart = apart
        self._free: dict[Lot, list[Piece]] = defaultdict(list)
        self._segments = 0
        self._ends: Counter[Lot] = Counter()  # of segments that grow: what is used, what is taken
        self._grown: Counter[Lot] = Counter()
        self._given: dict[int, tuple[Lot, Piece]] = {}
        self._used: dict[tuple[Lot, int], list[Used]] = defaultdict(list)
        self._held = 0

    def give(self, memory: Memory, clock: Clock) -> None:
        size = max(_UNIT, -(-memory.size // _UNIT) * _UNIT)
        lot = Lot(memory.owner if self._apart else 0, size <= _SMALL)
        free = self._free[lot]
        place = bisect_left(free, (size,))
        piece = free.pop(place) if place < len(free) else self._take(lot, size)
        rest = piece.size - size
        if rest >= _UNIT and (lot.is_small or self._expandable or rest > _SMALL):
            insort(free, Piece(rest, piece.segment, piece.start + size))
            piece = piece._replace(size=size)
        if self._apart:
            self._see_who_is_there(lot, piece, memory, clock)
        self._given[id(memory)] = lot, piece
        self._held += piece.size
        self.told.held = max(self.told.held, self._held)

    def take_back(self, memory: Memory) -> None:
        if id(memory) not in self._given:
            return  # it was there before
        lot, piece = self._given.pop(id(memory))
        self._held -= piece.size
        if memory.readers and self._apart:
            self.told.kept_back += piece.size
            return
        self._used[lot, piece.segment].append(Used(piece, memory, memory.uses()))
        free = self._free[lot]
        for other in [each for each in free if each.segment == piece.segment]:
            if piece.start in (other.start, other.end) or piece.end == other.start:
                free.remove(other)
                start = min(piece.start, other.start)
                piece = Piece(piece.size + other.size, piece.segment, start)
        insort(free, piece)

    def _take(self, lot: Lot, size: int) -> Piece:
        if self._expandable:
            return self._grow(lot, size)
        self._segments += 1
        large = _SEGMENT if size < _LARGE else -(-size // _GRAIN) * _GRAIN
        found = Piece(_SMALL_SEGMENT if lot.is_small else large, self._segments, 0)
        self.told.taken += found.size
        return found

    def _grow(self, lot: Lot, size: int) -> Piece:
        free, start = self._free[lot], self._ends[lot]
        last = [each for each in free if each.end == start]
        if last:
            free.remove(last[0])
            start = last[0].start
        self._ends[lot] = start + size
        grain = _SMALL_SEGMENT if lot.is_small else _SEGMENT
        grown = -(-self._ends[lot] // grain) * grain
        self.told.taken += max(0, grown - self._grown[lot])
        self._grown[lot] = max(grown, self._grown[lot])
        return Piece(size, 0, start)

    def _see_who_is_there(self, lot: Lot, piece: Piece, memory: Memory, clock: Clock) -> None:
        """Tell who may still use the piece by what its new owner knows; forget who was before."""
        kept = []
        for used in self._used[lot, piece.segment]:
            if used.piece.end <= piece.start or piece.end <= used.piece.start:
                kept.append(used)
                continue
            if any(clock.get(stream, 0) < moment for stream, moment in used.until.items()):
                wrong = f"{used.memory.where}, for {memory.where}"
                self.told.too_early[f"memory is used again too early: {wrong}"] += 1
            if used.piece.start < piece.start or piece.end < used.piece.end:
                kept.append(used)
        self._used[lot, piece.segment] = kept


def allocate(turns: Sequence[Turn], allocator: Allocator) -> Told:
    """Go through what a recording asked for and gave back."""
    for memory, clock in turns:
        if clock is None:
            allocator.take_back(memory)
        elif memory.size:
            allocator.give(memory, clock)
    return allocator.told
