"""What the checks of words and of signs tell beside the counts: how the kept texts look."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trainferry.counted import counted
from trainferry.train.data.check_report import (
    CheckPart,
    CheckReport,
    Example,
    add_dropped,
    counts_to_json,
    describe_counts,
)

_SHOWN = 60


@dataclass
class TextReport(CheckReport):
    """The facts of a check of records with texts."""

    lengths: dict[int, int] = field(default_factory=dict)
    characters: dict[str, int] = field(default_factory=dict)
    never_seen: str = ""


@dataclass
class TextPart(CheckPart):
    """What was found in some of the records."""

    kept: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    lengths: Counter[int] = field(default_factory=Counter)
    characters: Counter[str] = field(default_factory=Counter)


def keep_texts(part: TextPart, numbers: Sequence[int], texts: Sequence[str]) -> None:
    """Count the texts of the records with these numbers, all at once: that is faster."""
    part.kept = np.array(numbers, dtype=np.int64)
    part.lengths.update(map(len, texts))
    part.characters.update("".join(texts))


def add_parts(
    check: TextReport,
    parts: Iterable[TextPart],
    characters: Iterable[str],
    total: int,
    progress: Callable[[int, int], None] | None,
) -> None:
    """Add what was found, in order; `characters` are all that texts may have.

    `progress` is called with the number of records looked at, and with their `total`.
    """
    kept = [np.empty(0, np.int64)]
    done = 0
    for part in parts:
        add_dropped(check, part)
        for length, count in part.lengths.items():
            check.lengths[length] = check.lengths.get(length, 0) + count
        for character, count in part.characters.items():
            check.characters[character] = check.characters.get(character, 0) + count
        kept.append(part.kept)
        done += len(part.kept) + part.dropped.total()
        if progress is not None:
            progress(done, total)
    check.kept = np.concatenate(kept)
    check.never_seen = "".join(one for one in characters if one not in check.characters)


def summarise_texts(
    check: TextReport, reasons: Mapping[str, str], advice: Mapping[str, str], noun: str
) -> str:
    """Return the whole report for people; `noun` is what a text is called there."""
    lines = describe_counts(check, reasons, advice, _show)
    if check.lengths:
        count = sum(check.lengths.values())
        mean = sum(length * number for length, number in check.lengths.items()) / count
        lines.append(
            f"{noun}s: {min(check.lengths)} to {counted(max(check.lengths), 'character')}, "
            f"{mean:.1f} on average; {counted(len(check.characters), 'different character')}"
        )
        if check.lengths.get(0):
            lines.append(f"empty {noun}s, where nothing is to be read: {check.lengths[0]:,}")
        unseen = sorted(one for one in check.characters if not one.isprintable())
        if unseen:
            told = ", ".join(
                f"{show_characters(one)} ({check.characters[one]:,})" for one in unseen
            )
            lines.append(
                f"characters that nobody sees, learnt like any other: {told}; take them out of "
                f"the {noun}s, or write a space"
            )
        if check.never_seen:
            shown = show_characters(check.never_seen[:_SHOWN])
            rest = len(check.never_seen) - _SHOWN
            more = f" and {rest} more" if rest > 0 else ""
            lines.append(f"never seen in a {noun}: {shown}{more}")
    return "\n".join(lines)


def show_characters(characters: str) -> str:
    """Write characters side by side, and as codes those that could not be seen there."""
    return "".join(one if one.isprintable() else f"<U+{ord(one):04X}>" for one in characters)


def quote_text(text: str) -> str:
    """Quote a text; what cannot be seen alone, such as an accent without its letter, as a code."""
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return "".join(
        f"\\u{ord(one):04x}" if unicodedata.combining(one) else one for one in repr(shown)
    )


def texts_to_json(check: TextReport) -> dict[str, Any]:
    """Return the facts as `json.dumps` takes them; `kept` is the number, not the list."""
    return {
        **counts_to_json(check),
        "lengths": {str(length): count for length, count in sorted(check.lengths.items())},
        "characters": dict(sorted(check.characters.items())),
        "never_seen": check.never_seen,
    }


def _show(example: Example) -> str:
    return f"{example.record}  {quote_text(example.label)}  {example.detail}"
