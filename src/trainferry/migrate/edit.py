"""Edits of byte ranges: everything outside an edit stays byte for byte."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\r|\n")
_PLAIN_LINE_END = re.compile(r"(?<!\r)\n")


@dataclass(frozen=True, order=True)
class Edit:
    """The bytes from `start` up to `end` become `text`, with the line ends of the file."""

    start: int
    end: int
    text: str

    @property
    def removes(self) -> bool:
        """Whether nothing comes in the place of what was there."""
        return self.text.strip() in ("", "pass")


def apply_edits(data: bytes, edits: Iterable[Edit], encoding: str) -> bytes:
    """Return `data` with all edits made; their order does not matter, equal ones are made once.

    Different texts put in at one place stand there in the order of the alphabet.
    """
    pieces: list[bytes] = []
    position = 0
    for edit in sorted(set(edits)):
        if not position <= edit.start <= edit.end <= len(data):
            raise AssertionError(f"{edit} overlaps another edit or leaves the file")
        pieces.append(data[position : edit.start])
        pieces.append(with_line_ends_of(data, edit.start, edit.text).encode(encoding))
        position = edit.end
    pieces.append(data[position:])
    return b"".join(pieces)


def with_line_ends_of(data: bytes, place: int, text: str) -> str:
    """Give `text` the line ends that `data` has at `place`."""
    if "\n" not in text:
        return text
    found = _LINE_END.search(data, place) or _last_line_end(data, place)
    line_end = found.group().decode("ascii") if found else "\n"
    return _PLAIN_LINE_END.sub(line_end, text)


def _last_line_end(data: bytes, place: int) -> re.Match[bytes] | None:
    last = max(data.rfind(b"\r", 0, place), data.rfind(b"\n", 0, place))
    if last > 0 and data[last - 1 : last + 1] == b"\r\n":
        last -= 1
    return _LINE_END.match(data, last) if last >= 0 else None
