"""What a preflight found: each check with its outcome, and all of them as one report."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from trainferry.errors import DataError

Outcome: TypeAlias = Literal["ok", "warning", "wrong", "skipped"]

_WORST_FIRST: tuple[Outcome, ...] = ("wrong", "warning")


@dataclass(frozen=True)
class Problem:
    """One thing that is not as it should be, with what to do about it."""

    outcome: Literal["warning", "wrong"]
    sentence: str
    fix: str


@dataclass(frozen=True)
class Check:
    """One question and its answer. `sentence` says what was seen, `measured` holds its numbers."""

    name: str
    sentence: str
    problems: tuple[Problem, ...] = ()
    is_skipped: bool = False
    measured: dict[str, Any] = field(default_factory=dict)

    @property
    def outcome(self) -> Outcome:
        found = {problem.outcome for problem in self.problems}
        worst = next((outcome for outcome in _WORST_FIRST if outcome in found), None)
        return worst or ("skipped" if self.is_skipped else "ok")


@dataclass(frozen=True)
class Report:
    """All checks. `told_by` is the rank that says it: 0, or one that did not find rank 0."""

    ranks: int
    machines: int
    told_by: int
    checks: tuple[Check, ...]
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return not any(check.outcome == "wrong" for check in self.checks)

    def problems(self, outcome: Outcome) -> list[Problem]:
        return [one for check in self.checks for one in check.problems if one.outcome == outcome]

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "ranks": self.ranks,
            "machines": self.machines,
            "told_by": self.told_by,
            "seconds": round(self.seconds, 3),
            "checks": [_check_to_json(check) for check in self.checks],
        }


def report_from_json(written: dict[str, Any]) -> Report:
    checks = tuple(_check_from_json(check) for check in written["checks"])
    return Report(
        written["ranks"], written["machines"], written["told_by"], checks, written["seconds"]
    )


def write_report(report: Report, folder: Path, rank: int) -> None:
    """Keep what `rank` was told, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"preflight-rank-{rank}.json"
    beside = path.with_suffix(".part")
    beside.write_text(json.dumps(report.to_json(), indent=2) + "\n", encoding="utf-8")
    beside.replace(path)


def read_report(folder: Path) -> Report:
    """One report out of those that the ranks of this machine wrote to `folder`.

    Rank 0's own words are the report; where no rank heard them, all that the ranks say is.
    """
    paths = folder.glob("preflight-rank-*.json")
    written = [report_from_json(json.loads(path.read_text(encoding="utf-8"))) for path in paths]
    written.sort(key=lambda report: report.told_by)
    if not written:
        raise DataError(
            f"no rank wrote a report to `{folder}`",
            hint="the ranks' own output says why they ended",
        )
    first = written[0]
    # A rank that could not take part knows better why than those who missed it.
    alone = [report for report in written if report.told_by != 0]
    others = alone if first.told_by == 0 else alone[1:]
    checks = _joined([*first.checks, *(check for report in others for check in report.checks)])
    return Report(first.ranks, first.machines, first.told_by, checks, first.seconds)


def _joined(checks: Iterable[Check]) -> tuple[Check, ...]:
    """Checks of the same name as one, each problem once."""
    by_name: dict[str, Check] = {}
    for check in checks:
        first = by_name.get(check.name, check)
        problems = tuple(dict.fromkeys((*first.problems, *check.problems)))
        by_name[check.name] = replace(first, problems=problems)
    return tuple(by_name.values())


def _check_to_json(check: Check) -> dict[str, Any]:
    return {
        "name": check.name,
        "outcome": check.outcome,
        "sentence": check.sentence,
        "problems": [vars(problem) for problem in check.problems],
        "measured": check.measured,
    }


def _check_from_json(written: dict[str, Any]) -> Check:
    problems = tuple(Problem(**problem) for problem in written["problems"])
    is_skipped = written["outcome"] == "skipped"
    return Check(written["name"], written["sentence"], problems, is_skipped, written["measured"])
