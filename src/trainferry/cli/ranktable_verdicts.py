"""How `trainferry ranktable check` shows its verdicts in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainferry.launch.ranktable.check import Check, State, Verdict

_COLOURS: dict[State, str] = {
    "ok": "\033[32m",
    "warning": "\033[33m",
    "error": "\033[31m",
    "skipped": "\033[2m",
}
_PLAIN = "\033[0m"
_MOST_SHOWN = 5
_INDENT = " " * 11


def format_check(check: Check, name: str, *, colour: bool) -> str:
    """A line for each rule, what it found below it, and the verdict over all."""
    lines = [f"{name}: {_describe(check)}", ""]
    width = max(len(verdict.rule.name) for verdict in check.verdicts)
    skipped = 0
    for verdict in check.verdicts:
        if verdict.state == "skipped" and check.table is None:
            skipped += 1
            continue
        sentence = verdict.rule.sentence
        if verdict.state == "skipped":
            sentence = f"until `{verdict.rule.after}` is ok"
        lines.append(f"  {_show(verdict.state, colour)}  {verdict.rule.name:<{width}}  {sentence}")
        lines += _findings(verdict)
    if skipped:
        number = f"{skipped} rules"
        told = "until the file can be read"
        lines.append(f"  {_show('skipped', colour)}  {number:<{width}}  {told}")
    return "\n".join([*lines, "", _verdict(check)])


def _describe(check: Check) -> str:
    from trainferry.launch.ranktable.table import TEMPLATE_WORDS, count_of

    rules = f"rules of the {check.chip.name}, {check.chip.products}"
    if check.table is None:
        return f"no table can be read ({rules})"
    servers = count_of(len(check.table.servers), "server")
    devices = count_of(check.table.size, "device")
    return f"{TEMPLATE_WORDS[check.table.template]}, {servers}, {devices} ({rules})"


def _show(state: State, colour: bool) -> str:
    shown = f"{state:<7}"
    return f"{_COLOURS[state]}{shown}{_PLAIN}" if colour else shown


def _findings(verdict: Verdict) -> Iterator[str]:
    """Findings with their fixes; a fix that several share is shown once, after the last."""
    shown = verdict.findings[:_MOST_SHOWN]
    for place, finding in enumerate(shown, 1):
        yield f"{_INDENT}{finding.sentence()}"
        if place == len(shown) or shown[place].fix != finding.fix:
            yield f"{_INDENT}-> {finding.fix}"
    if len(verdict.findings) > len(shown):
        yield f"{_INDENT}and {len(verdict.findings) - len(shown):,} more; `--json` lists all"


def _verdict(check: Check) -> str:
    from trainferry.launch.ranktable.table import count_of

    errors, warnings = len(check.errors), len(check.warnings)
    if errors:
        also = f" and {count_of(warnings, 'warning')}" if warnings else ""
        return f"{count_of(errors, 'error')}{also}: this table cannot be used"
    if warnings:
        return f"this table can be used; {count_of(warnings, 'warning')} to read"
    return "this table can be used"
