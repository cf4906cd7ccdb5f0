"""Tables in plain text: columns as wide as what stands in them, in every script."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]

_WIDEST_NAME = 32


@dataclass(frozen=True)
class Column:
    """What stands above a column, what it shows of a row, and how."""

    title: str
    show: Callable[[Row], str]
    width: int = 0
    left: bool = False


def _share(value: float | None) -> str:
    """Return a share as per cent, and a dash where nothing could be divided."""
    return "-" if value is None else f"{value:.1%}"


SCORES = (
    Column("precision", lambda row: _share(row["precision"])),
    Column("recall", lambda row: _share(row["recall"]), 6),
    Column("F1", lambda row: _share(row["f1"]), 6),
)


def table(rows: Sequence[Row], columns: Sequence[Column]) -> list[str]:
    """Return the titles and the rows as lines."""
    cells = [[column.title for column in columns]]
    cells += [[column.show(row) for column in columns] for row in rows]
    widths = [
        max(column.width, *(_width(line[place]) for line in cells))
        for place, column in enumerate(columns)
    ]
    return ["  ".join(map(_pad, line, widths, columns)).rstrip() for line in cells]


def cut(name: str, widest: int = _WIDEST_NAME) -> str:
    """Shorten a name, and keep what could move the cursor out of the table."""
    name = "".join(character if character.isprintable() else "?" for character in name)
    if _width(name) <= widest:
        return name
    while _width(name) > widest - 1:
        name = name[:-1]
    return name + "…"


def _pad(text: str, width: int, column: Column) -> str:
    space = " " * (width - _width(text))
    return text + space if column.left else space + text


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    marks = sum(unicodedata.combining(character) > 0 for character in text)
    return len(text) + wide - marks
