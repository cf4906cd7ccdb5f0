"""How well each class of photographs is told, as lines of text: scores, averages, confusions."""

from __future__ import annotations

from collections.abc import Sequence

from trainferry.cli.columns import SCORES, Column, Row, cut, table
from trainferry.counted import counted

FEW_CLASSES = 20
"""Up to so many classes, each has its line without being asked for."""

_MOST_PAIRS = 10
_MOST_NAMES = 5


def class_table(row: Row) -> list[str]:
    """Return one line per class that has samples."""
    return table(
        [each for each in row["classes"] if each["samples"]],
        [
            Column("label", lambda each: str(each["label"]), 5),
            Column("class", lambda each: cut(each["name"]), left=True),
            Column("samples", lambda each: str(each["samples"])),
            Column("named", lambda each: str(each["named"])),
            Column("right", lambda each: str(each["right"])),
            *SCORES,
            Column("most often taken for", _taken_for, left=True),
        ],
    )


def class_averages(row: Row) -> list[str]:
    """Return the averages over classes, and what is not in them or counts as nothing."""
    kinds = (("macro", "every class counts alike"), ("weighted", "by its samples"))
    averages = [
        {
            "average": kind,
            "how": how,
            "precision": row[f"{kind}_precision"],
            "recall": row["macro_recall" if kind == "macro" else "top1"],
            "f1": row[f"{kind}_f1"],
        }
        for kind, how in kinds
    ]
    lines = table(
        averages,
        [
            Column("average", lambda each: each["average"], left=True),
            Column("", lambda each: each["how"], left=True),
            *SCORES,
        ],
    )
    return [*lines, *_notes(row)]


def confused_classes(row: Row) -> list[str]:
    """Return the pairs of classes that are confused most often."""
    samples = {each["label"]: each["samples"] for each in row["classes"]}
    return table(
        row["confused"][:_MOST_PAIRS],
        [
            Column("times", lambda pair: str(pair["times"])),
            Column("of", lambda pair: str(samples[pair["truth_label"]])),
            Column("this class", lambda pair: cut(pair["truth"]), left=True),
            Column("was taken for", lambda pair: cut(pair["read"]), left=True),
        ],
    )


def _notes(row: Row) -> list[str]:
    notes = []
    unnamed = [each for each in row["classes"] if each["samples"] and not each["named"]]
    if unnamed:
        notes.append(f"never named, which averages take for a precision of 0: {_count(unnamed)}")
    # Of the background there never is one.
    absent = [each for each in row["classes"] if not each["samples"] and each["label"] > 0]
    if absent:
        times = sum(each["named"] for each in absent)
        notes.append(
            f"without samples, in no average: {_count(absent)}, named {counted(times, 'time')}"
        )
    return notes


def _count(classes: Sequence[Row]) -> str:
    names = ", ".join(cut(each["name"]) for each in classes[:_MOST_NAMES])
    more = ", …" if len(classes) > _MOST_NAMES else ""
    return f"{len(classes)} of the classes ({names}{more})"


def _taken_for(each: Row) -> str:
    return f"{cut(each['taken_for'])} ({each['times']})" if each["taken_for"] else "-"
