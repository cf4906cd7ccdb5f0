"""Findings that say the same, together; and the figures that every report opens with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from trainferry.counted import counted
from trainferry.migrate.dispatch import Failure
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


@dataclass(frozen=True)
class FailureGroup:
    """A rule that broke in one way, and the files it broke on."""

    rule: str
    reason: str
    paths: tuple[PurePosixPath, ...]

    def where(self, most: int = 3) -> str:
        """`3 files: a.py, b.py, c.py`; `.` is the whole project."""
        names = ["the whole project" if path.name == "" else str(path) for path in self.paths]
        if len(names) == 1:
            return names[0]
        more = f" and {len(names) - most:,} more" if len(names) > most else ""
        return f"{counted(len(names), 'file')}: {', '.join(names[:most])}{more}"


def grouped_failures(failures: Iterable[Failure]) -> list[FailureGroup]:
    """Put failures of one rule with the same last line of the trace together."""
    found: dict[tuple[str, str], list[PurePosixPath]] = {}
    for one in failures:
        reason = one.trace.strip().rpartition("\n")[2]
        found.setdefault((one.rule, reason), []).append(one.path)
    return [FailureGroup(rule, reason, tuple(paths)) for (rule, reason), paths in found.items()]


def place(told: Told) -> str:
    """`train.py:12`, or `demo.ipynb cell 3`."""
    return f"{told.path}:{told.line}" if told.cell is None else f"{told.path} cell {told.cell}"


def api_counts(migration: Migration) -> Counter[Verdict]:
    """Calls by what the NPU makes of them."""
    counts: Counter[Verdict] = Counter()
    for api in migration.apis:
        counts[api.support.verdict] += len(api.places)
    return counts
