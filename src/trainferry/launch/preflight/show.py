"""A report as text: a line for each check, what is wrong below it, and the verdict over all."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from trainferry.launch.preflight.report import Check, Outcome, Report
from trainferry.launch.ranktable.table import count_of

_COLOURS: dict[Outcome, str] = {
    "ok": "\033[32m",
    "warning": "\033[33m",
    "wrong": "\033[31m",
    "skipped": "\033[2m",
}
_PLAIN = "\033[0m"
_MOST_SHOWN = 8


def format_report(report: Report, *, colour: bool, columns: int | None = None) -> str:
    """`columns` breaks long lines for a terminal; in a pipe they stay whole."""
    ranks, machines = count_of(report.ranks, "rank"), count_of(report.machines, "machine")
    lines = [f"preflight of {ranks} on {machines}, {report.seconds:.1f} s", ""]
    width = max(len(check.name) for check in report.checks)
    for check in report.checks:
        shown = f"{check.outcome:<7}"
        state = f"{_COLOURS[check.outcome]}{shown}{_PLAIN}" if colour else shown
        first, *rest = _fold(check.sentence, 13 + width, columns)
        lines += [f"  {state}  {check.name:<{width}}  {first.strip()}", *rest]
        lines += _problems(check, 13 + width, columns)
    return "\n".join([*lines, "", _verdict(report)])


def _problems(check: Check, indent: int, columns: int | None) -> Iterator[str]:
    """A fix that several problems share is shown once, after the last."""
    shown = check.problems[:_MOST_SHOWN]
    for place, problem in enumerate(shown, 1):
        yield from _fold(problem.sentence, indent, columns)
        if place == len(shown) or shown[place].fix != problem.fix:
            yield from _fold(f"-> {problem.fix}", indent, columns)
    if len(check.problems) > len(shown):
        yield " " * indent + f"and {len(check.problems) - len(shown):,} more; JSON lists all"


def _fold(text: str, indent: int, columns: int | None) -> list[str]:
    space = " " * indent
    if columns is None:
        return [space + text]
    return textwrap.wrap(
        text,
        max(columns, indent + 30),
        initial_indent=space,
        subsequent_indent=space + ("   " if text.startswith("-> ") else ""),
        break_on_hyphens=False,
    ) or [space]


def _verdict(report: Report) -> str:
    wrong, warnings = len(report.problems("wrong")), len(report.problems("warning"))
    if wrong:
        also = f" and {count_of(warnings, 'warning')}" if warnings else ""
        return f"{count_of(wrong, 'problem')}{also}: do not start this run yet"
    if warnings:
        return f"this run can start; {count_of(warnings, 'warning')} to read"
    return "this run can start"
