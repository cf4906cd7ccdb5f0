"""Places in a text that was rewritten for the parser, followed back to the text before."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

_LINE_END = re.compile(rb"\r\n|\r|\n")


class CannotRead(Exception):  # noqa: N818 - it becomes `Unreadable`, users never meet it
    """This text cannot be read, from this line on, for this reason."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


class Replacement(NamedTuple):
    """The bytes from `start` up to `end` were replaced."""

    start: int
    end: int
    text: bytes


class PositionMap:
    """Knows which replacements made the new text out of the old one."""

    def __init__(self, replacements: Sequence[Replacement]) -> None:
        self._old_starts = array("L")
        self._old_ends = array("L")
        self._new_starts = array("L")
        self._new_ends = array("L")
        growth = 0
        for start, end, text in replacements:
            self._old_starts.append(start)
            self._old_ends.append(end)
            self._new_starts.append(start + growth)
            self._new_ends.append(start + growth + len(text))
            growth += len(text) - (end - start)

    def old_start(self, place: int) -> int:
        """Where something that begins here began; inside a replacement, where that began."""
        index = bisect_right(self._new_starts, place) - 1
        if index >= 0 and place < self._new_ends[index]:
            return self._old_starts[index]
        return self._shift(index, place)

    def old_end(self, place: int) -> int:
        """Where something that ends here ended; inside a replacement, where that ended."""
        index = bisect_right(self._new_starts, place) - 1
        if index >= 0 and place < self._new_ends[index]:
            inside = place > self._new_starts[index]
            return self._old_ends[index] if inside else self._old_starts[index]
        return self._shift(index, place)

    def _shift(self, index: int, place: int) -> int:
        if index < 0:
            return place
        return self._old_ends[index] + place - self._new_ends[index]


def replace_all(text: bytes, replacements: Sequence[Replacement]) -> bytes:
    """Make replacements that are sorted and do not overlap."""
    pieces: list[bytes] = []
    position = 0
    for start, end, new in replacements:
        pieces += (text[position:start], new)
        position = end
    pieces.append(text[position:])
    return b"".join(pieces)


def find_line_starts(text: bytes) -> array[int]:
    """Where the lines of Python begin: after LF, CR and CRLF, and after nothing else."""
    starts = array("L", [0])
    starts.extend(accumulate(map(len, text.splitlines(keepends=True))))
    if text and not text.endswith((b"\n", b"\r")):
        starts.pop()  # the end of a line that has none
    return starts


def line_at(text: bytes, place: int) -> int:
    """Number of the line with this place, from 1."""
    return 1 + sum(1 for _ in _LINE_END.finditer(text, 0, place))
