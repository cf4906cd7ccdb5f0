"""What takes the place of a sample that cannot be read: always the same one, the next that can."""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.errors import DataError

_MOST_IN_A_ROW = 100


def samples_after(position: int, count: int) -> Iterator[int]:
    """Yield the samples behind one that cannot be read, and give up after too many of them."""
    tried = min(_MOST_IN_A_ROW, count)
    for step in range(1, tried):
        yield (position + step) % count
    raise DataError(
        f"{tried} samples in a row cannot be read, from sample {position} on",
        hint="run `trainferry data check` on this folder to see what is wrong",
    )
