"""The report as Markdown, for the description of a merge request."""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.rehearsal import Rehearsal
from trainferry.rehearse.report.sentences import LIMITS, MEANINGS, ranks_of, side_sentence

_MOST_PLACES = 20


def markdown_report(rehearsal: Rehearsal) -> str:
    """The same as the terminal shows, with every finding."""
    return "\n".join(_lines(rehearsal)) + "\n"


def _lines(rehearsal: Rehearsal) -> Iterator[str]:
    yield f"## Rehearsal: {rehearsal.verdict.value}"
    yield ""
    yield from (f"- {_cell(reason)}" for reason in rehearsal.reasons())
    yield from (f"- {side.name}: {_cell(side_sentence(side))}" for side in rehearsal.sides)
    yield from (f"- {_cell(one.summary)}" for one in rehearsal.compared if not one.breaks_claim)
    for severity in Severity:
        found = rehearsal.of(severity)
        if found:
            yield f"\n### {severity.value.capitalize()}: {MEANINGS[severity]} ({len(found):,})\n"
            yield "| check | what | what to do | where |"
            yield "|---|---|---|---|"
            yield from (_row(finding, rehearsal) for finding in found)
    yield f"\n{LIMITS}\n"
    yield f"```\n{rehearsal.plan['command']}\n```"


def _row(finding: Finding, rehearsal: Rehearsal) -> str:
    shown = ", ".join(f"`{place}`" for place in finding.places[:_MOST_PLACES])
    more = len(finding.places) - _MOST_PLACES
    where = shown + (f" and {more:,} more" if more > 0 else "")
    parts = [finding.check, finding.message, finding.hint]
    ranks = ranks_of(finding, rehearsal)
    return f"| {' | '.join(map(_cell, parts))} | {where}{f' ({ranks})' if ranks else ''} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
