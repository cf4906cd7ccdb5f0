"""The summary for a terminal: the verdict, what ran, what was found, and how to go on."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.rehearsal import RankRun, Rehearsal, Side, Verdict
from trainferry.rehearse.report.sentences import (
    LIMITS,
    MEANINGS,
    counts_sentence,
    last_words,
    ranks_of,
    side_sentence,
)
from trainferry.report.words import painted

_MOST_PLACES = 4
_MOST_FINDINGS = 15
_MOST_LINES = 25
_COLOURS = {Severity.REFUSED: "red", Severity.RISK: "yellow", Severity.NOTE: "cyan"}
_VERDICT_COLOURS = {Verdict.RUNS: "green", Verdict.DIFFER: "yellow"}


def text_report(rehearsal: Rehearsal, *, colour: bool, width: int = 100) -> str:
    """The summary, at most a few screens long; the HTML report has everything."""
    return "\n".join(_Text(rehearsal, colour, width).lines()) + "\n"


class _Text:
    def __init__(self, rehearsal: Rehearsal, colour: bool, width: int) -> None:
        self.rehearsal = rehearsal
        self.colour = colour
        self.width = max(60, min(width, 140))

    def lines(self) -> Iterator[str]:
        yield from self.opening()
        yield from self.failures()
        for severity in Severity:
            yield from self.findings(severity)
        yield ""
        yield self.paint(LIMITS, "dim")

    def opening(self) -> Iterator[str]:
        rehearsal = self.rehearsal
        verdict = rehearsal.verdict
        yield self.paint(verdict.value, "bold", _VERDICT_COLOURS.get(verdict, "red"))
        if verdict is Verdict.DID_NOT_RUN:
            for reason in rehearsal.reasons():
                yield from self.wrap(reason, 2)
        for side in rehearsal.sides:
            yield from self.wrap(f"{side.name}: {side_sentence(side)}", 2)
        for one in rehearsal.compared:
            yield from self.wrap(one.summary, 2)
        yield self.paint(f"  findings: {counts_sentence(rehearsal)}", "dim")

    def failures(self) -> Iterator[str]:
        for side in self.rehearsal.sides:
            if side.failed is not None and not self.rehearsal.fails_alike(side):
                yield from self.failure(side, side.failed)

    def failure(self, side: Side, rank: RankRun) -> Iterator[str]:
        yield ""
        who = f"rank {rank.rank} of the" if len(side.ranks) > 1 else "the"
        yield self.paint(f"the end of what {who} {side.name} script printed", "bold", "red")
        yield from (f"  | {line}" for line in last_words(rank, _MOST_LINES))
        yield from self.wrap(f"hint: {rank.hint}", 2)

    def findings(self, severity: Severity) -> Iterator[str]:
        found = self.rehearsal.of(severity)
        if not found:
            return
        yield ""
        title = f"{severity.value}: {MEANINGS[severity]}"
        yield self.paint(title, "bold", _COLOURS[severity])
        for finding in found[:_MOST_FINDINGS]:
            yield from self.finding(finding)
        if len(found) > _MOST_FINDINGS:
            yield f"  … and {len(found) - _MOST_FINDINGS:,} more: see the report"

    def finding(self, finding: Finding) -> Iterator[str]:
        shown = ", ".join(finding.places[:_MOST_PLACES])
        more = len(finding.places) - _MOST_PLACES
        where = shown + (f" and {more:,} more" if more > 0 else "")
        parts = [self.paint(finding.check, "cyan"), where, ranks_of(finding, self.rehearsal)]
        yield "  " + "  ".join(filter(None, parts))
        yield from self.wrap(finding.message, 6)
        yield from self.wrap(f"-> {finding.hint}", 6)

    def wrap(self, text: str, indent: int) -> list[str]:
        return textwrap.wrap(
            text,
            self.width,
            initial_indent=" " * indent,
            subsequent_indent=" " * indent,
            break_long_words=False,
            break_on_hyphens=False,
        )

    def paint(self, text: str, *styles: str) -> str:
        return painted(text, *styles) if self.colour else text
