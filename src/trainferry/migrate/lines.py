"""Lines of a file, by byte offsets."""

from __future__ import annotations

_MARK = b"\xef\xbb\xbf"


def line_start(data: bytes, place: int) -> int:
    """Where the line with `place` starts; in the first line, behind a byte order mark."""
    start = max(data.rfind(b"\n", 0, place), data.rfind(b"\r", 0, place)) + 1
    return len(_MARK) if start == 0 and data.startswith(_MARK) else start


def line_end(data: bytes, place: int) -> int:
    """Behind the line end of the line with `place`."""
    found = [end for end in (data.find(b"\n", place), data.find(b"\r", place)) if end >= 0]
    if not found:
        return len(data)
    end = min(found)
    return end + 2 if data[end : end + 2] == b"\r\n" else end + 1


def indentation(data: bytes, place: int) -> str:
    """The space that the line with `place` begins with."""
    line = data[line_start(data, place) : place]
    return line[: len(line) - len(line.lstrip(b" \t"))].decode("ascii")


def line_number(data: bytes, place: int) -> int:
    """Number of the line with `place`, from 1; a lone carriage return ends a line too."""
    before = data[:place].replace(b"\r\n", b"\n")
    return before.count(b"\n") + before.count(b"\r") + 1
