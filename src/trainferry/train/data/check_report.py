"""What every check of records tells: what is kept, what is dropped and why, with examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trainferry.counted import counted
from trainferry.errors import DataError
from trainferry.train.data.record_index import Damage

EXAMPLES = 5


@dataclass(frozen=True)
class Example:
    """A dropped record: where it is, what its label says, and what is wrong with it."""

    record: str
    label: str
    detail: str


@dataclass
class CheckReport:
    """The facts of any check; `kept` holds the numbers of the records that can be used."""

    total: int
    kept: NDArray[np.int64]
    dropped: dict[str, int]
    examples: dict[str, list[Example]]

    @property
    def kept_share(self) -> float:
        return len(self.kept) / self.total if self.total else 0.0


@dataclass
class CheckPart:
    """What was dropped of some of the records."""

    dropped: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[Example]] = field(default_factory=dict)


def count_damage(
    damage: Sequence[Damage], reason: str, reasons: Mapping[str, str]
) -> tuple[dict[str, int], dict[str, list[Example]]]:
    """Return counts and examples to begin with: what could not even be numbered as a record."""
    dropped = dict.fromkeys(reasons, 0)
    examples: dict[str, list[Example]] = {name: [] for name in reasons}
    dropped[reason] = len(damage)
    examples[reason] = [
        Example(
            f"{one.path.name} at byte {one.offset}",
            "",
            f"{one.reason}, {counted(one.bytes, 'byte')} skipped",
        )
        for one in damage[:EXAMPLES]
    ]
    return dropped, examples


def drop(counted: CheckReport | CheckPart, reason: str, example: Example) -> None:
    """Count one record, and keep it as an example while there are few."""
    counted.dropped[reason] = counted.dropped.get(reason, 0) + 1
    examples = counted.examples.setdefault(reason, [])
    if len(examples) < EXAMPLES:
        examples.append(example)


def add_dropped(check: CheckReport, part: CheckPart) -> None:
    for reason, count in part.dropped.items():
        check.dropped[reason] += count
        room = EXAMPLES - len(check.examples[reason])
        check.examples[reason] += part.examples[reason][:room]


def describe_counts(
    check: CheckReport,
    reasons: Mapping[str, str],
    advice: Mapping[str, str],
    show: Callable[[Example], str],
) -> list[str]:
    """Return what was kept, and what was dropped with examples and what to do, as lines."""
    lines = [
        f"kept {len(check.kept):,} of {counted(check.total, 'record')} ({check.kept_share:.1%})"
    ]
    for reason, count in check.dropped.items():
        if count:
            lines.append(f"dropped {count:,}  {reason}: {reasons[reason]}")
            lines += [f"    {show(example)}" for example in check.examples[reason]]
            lines.append(f"    -> {advice[reason]}")
    return lines


def counts_to_json(check: CheckReport) -> dict[str, Any]:
    """Return the facts as `json.dumps` takes them; `kept` is the number, not the list."""
    return {
        "total": check.total,
        "kept": len(check.kept),
        "dropped": dict(check.dropped),
        "examples": {
            reason: [vars(example) for example in examples]
            for reason, examples in check.examples.items()
            if examples
        },
    }


def require_share(
    check: CheckReport,
    minimum_share: float,
    reasons: Mapping[str, str],
    advice: Mapping[str, str],
) -> None:
    """Raise DataError with the main reason when too few records are left to train on."""
    if len(check.kept) and check.kept_share >= minimum_share:
        return
    if not check.total:
        raise DataError(
            "the record files hold no records",
            hint="make the data again with `trainferry data`, or pass another folder",
        )
    reason = max(check.dropped, key=lambda name: check.dropped[name])
    example = next((f", for example {one.detail}" for one in check.examples[reason]), "")
    raise DataError(
        f"only {len(check.kept):,} of {counted(check.total, 'record')} can be used; "
        f"{check.dropped[reason]:,} have {_article(reasons[reason])}{example}",
        hint=advice[reason],
    )


def _article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"
