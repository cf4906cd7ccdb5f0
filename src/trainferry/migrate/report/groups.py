"""Findings that say the same, together; and the figures that every report opens with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from trainferry.migrate.migration import Migration, Told
from trainferry.migrate.rule import Concern, Outcome
from trainferry.migrate.support import Verdict


@dataclass(frozen=True)
class Group:
    """One sentence and all places it is about."""

    rule: str
    concern: Concern
    outcome: Outcome
    message: str
    told: tuple[Told, ...]


def grouped(told: Iterable[Told]) -> list[Group]:
    """Put findings with the same rule and sentence together, in the order they come."""
    found: dict[tuple[Concern, str, str], list[Told]] = {}
    for one in told:
        found.setdefault((one.concern, one.rule.name, one.message), []).append(one)
    return [
        Group(rule, concern, some[0].outcome, message, tuple(some))
        for (concern, rule, message), some in found.items()
    ]


def place(told: Told) -> str:
    """`train.py:12`, or `demo.ipynb cell 3`."""
    return f"{told.path}:{told.line}" if told.cell is None else f"{told.path} cell {told.cell}"


def api_counts(migration: Migration) -> Counter[Verdict]:
    """Calls by what the NPU makes of them."""
    counts: Counter[Verdict] = Counter()
    for api in migration.apis:
        counts[api.support.verdict] += len(api.places)
    return counts


def counted(number: int, one: str, many: str = "") -> str:
    """`1 file`, `12 files`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
