"""Tables of scores as lines of text: checkpoints, classes, and what is taken for what."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

FEW_CLASSES = 20
"""Up to so many classes, each has its line without being asked for."""

_MOST_PAIRS = 10
_WIDEST_NAME = 32

Row = Mapping[str, Any]


def word_table(rows: Sequence[Row]) -> list[str]:
    """Return one line per checkpoint that reads words, or signs, with the originals' scores."""
    originals = [
        _Column("seq. orig.", lambda row: f"{row['sequence_accuracy_original']:.2%}", 10),
        _Column("char. orig.", lambda row: f"{row['character_accuracy_original']:.2%}", 11),
    ]
    return _table(
        rows,
        [
            *_CHECKPOINT,
            _Column("sequence", lambda row: f"{row['sequence_accuracy']:.2%}", 9),
            _Column("character", lambda row: f"{row['character_accuracy']:.2%}", 9),
            _Column("edit", lambda row: f"{row['edit_similarity']:.2%}", 7),
            *(originals if rows and "sequence_accuracy_original" in rows[0] else []),
            *_COUNTS,
            _Column("left out", lambda row: f"{row['left_out']:.0f}", 8),
            _SAVED,
        ],
    )


def word_mistakes(row: Row) -> list[str]:
    """Return which characters are taken for which, and the words read worst."""
    confused = ", ".join(
        f"{_named(each['truth'])} as {_named(each['read'])} ({each['times']})"
        for each in row["confused"]
    )
    worst = ", ".join(
        f"{_named(each['truth'])} as {_named(each['read'])}" for each in row["worst"][:5]
    )
    return [f"most often read wrong: {confused}", f"worst words: {worst}"]


def _named(text: str) -> str:
    """Return a text as it is, or a word for what nobody would see."""
    return (text if text.strip() else "space") if text else "nothing"


def photo_table(rows: Sequence[Row]) -> list[str]:
    """Return one line per checkpoint that names photographs."""
    return _table(
        rows,
        [
            *_CHECKPOINT,
            _Column("top-1", lambda row: f"{row['top1']:.2%}", 7),
            _Column("top-5", lambda row: f"{row['top5']:.2%}", 7),
            *_COUNTS,
            _SAVED,
        ],
    )


def class_table(row: Row) -> list[str]:
    """Return one line per class that has samples, and how many classes have none."""
    seen = [each for each in row["classes"] if each["samples"]]
    lines = _table(
        seen,
        [
            _Column("label", lambda each: str(each["label"]), 5),
            _Column("class", lambda each: _cut(each["name"]), left=True),
            _Column("samples", lambda each: str(each["samples"])),
            _Column("right", lambda each: str(each["right"])),
            _Column("top-1", lambda each: f"{each['top1']:.1%}", 6),
            _Column("most often taken for", _taken_for, left=True),
        ],
    )
    # Of the background there never is one.
    without = sum(not each["samples"] and each["label"] > 0 for each in row["classes"])
    return [*lines, f"classes without a sample: {without}"] if without else lines


def confused_classes(row: Row) -> list[str]:
    """Return the pairs of classes that are confused most often."""
    samples = {each["label"]: each["samples"] for each in row["classes"]}
    return _table(
        row["confused"][:_MOST_PAIRS],
        [
            _Column("times", lambda pair: str(pair["times"])),
            _Column("of", lambda pair: str(samples[pair["truth_label"]])),
            _Column("this class", lambda pair: _cut(pair["truth"]), left=True),
            _Column("was taken for", lambda pair: _cut(pair["read"]), left=True),
        ],
    )


@dataclass(frozen=True)
class _Column:
    title: str
    show: Callable[[Row], str]
    width: int = 0
    left: bool = False


_CHECKPOINT = (
    _Column("step", lambda row: str(row["step"]), 9),
    _Column("epoch", lambda row: "-" if row["epoch"] is None else f"{row['epoch']:.2f}", 7),
)
_COUNTS = (
    _Column("loss", lambda row: f"{row['loss']:.4f}", 8),
    _Column("samples", lambda row: f"{row['samples']:.0f}", 8),
)
_SAVED = _Column("saved", lambda row: row["saved"] or "-", left=True)


def _table(rows: Sequence[Row], columns: Sequence[_Column]) -> list[str]:
    """Return the titles and the rows, each column as wide as what stands in it."""
    cells = [[column.title for column in columns]]
    cells += [[column.show(row) for column in columns] for row in rows]
    widths = [
        max(column.width, *(_width(line[place]) for line in cells))
        for place, column in enumerate(columns)
    ]
    return ["  ".join(map(_pad, line, widths, columns)).rstrip() for line in cells]


def _pad(text: str, width: int, column: _Column) -> str:
    space = " " * (width - _width(text))
    return text + space if column.left else space + text


def _taken_for(each: Row) -> str:
    return f"{_cut(each['taken_for'])} ({each['times']})" if each["taken_for"] else "-"


def _cut(name: str) -> str:
    """Shorten a name, and keep what could move the cursor out of the table."""
    name = "".join(character if character.isprintable() else "?" for character in name)
    if _width(name) <= _WIDEST_NAME:
        return name
    while _width(name) > _WIDEST_NAME - 1:
        name = name[:-1]
    return name + "…"


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    marks = sum(unicodedata.combining(character) > 0 for character in text)
    return len(text) + wide - marks
