"""What IPython adds to Python in a notebook: hidden from the parser, left alone in the file."""

from __future__ import annotations

import re

from trainferry.migrate.reading.tokens import CLOSING, OPENING, find_tokens

# The cells after these are Python; after any other `%%name` they are something else.
_PYTHON_CELLS = frozenset(
    (b"time", b"timeit", b"capture", b"prun", b"memit", b"python3", b"python")
)
_CELL_MAGIC = re.compile(rb"\s*%%(\w+)")
_LINE = rb"(?:[^\r\n\\]|\\(?:\r\n|[\r\n])|\\)*"
_MAGIC = re.compile(rb"[ \t]*([%!?]" + _LINE + rb")")
_ASSIGNED = re.compile(rb"[ \t]*[A-Za-z_][\w.,\[\] \t'\"]*=[ \t]*([%!](?!=)" + _LINE + rb")")
_HELP = re.compile(rb"[ \t]*([\w.*\[\]]+\?\??)[ \t]*(?=[\r\n]|\Z)")
_TEXT = re.compile(rb"[^\r\n]")


def foreign_language(cell: bytes) -> str | None:
    """Name of the magic that makes a whole cell something else than Python."""
    found = _CELL_MAGIC.match(cell)
    if found is None or found[1] in _PYTHON_CELLS:
        return None
    return found[1].decode()


def hide_magics(cell: bytes) -> bytes:
    """Put `()` where a magic is; every other byte keeps its place."""
    pieces: list[bytes] = []
    place = 0
    while place < len(cell):
        if found := _find_magic(cell, place):
            pieces += (cell[place : found.start(1)], b"()", hide(found[1][2:]))
            end = found.end(1)
        else:
            end = _logical_line_end(cell, place)
            pieces.append(cell[place:end])
        place = end
    return b"".join(pieces)


def hide(text: bytes) -> bytes:
    """Blank a text; its lines stay."""
    return _TEXT.sub(b" ", text)


def _find_magic(cell: bytes, place: int) -> re.Match[bytes] | None:
    found = _MAGIC.match(cell, place) or _HELP.match(cell, place) or _ASSIGNED.match(cell, place)
    return found if found and len(found[1]) > 1 else None


def _logical_line_end(cell: bytes, place: int) -> int:
    depth = 0
    for token in find_tokens(cell, place):
        depth = max(0, depth + (token.text in OPENING) - (token.text in CLOSING))
        if token.kind == "newline" and depth == 0:
            return token.end
    return len(cell)
