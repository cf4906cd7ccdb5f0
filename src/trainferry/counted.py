"""Numbers of things, as every part of the program says them."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """`1 file`, `12 files`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
