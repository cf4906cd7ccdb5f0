"""The summary for a terminal: what was done, what needs a look, what to do by hand."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator

from trainferry.counted import counted
from trainferry.migrate.migration import Migration, Verdict
from trainferry.migrate.report.groups import (
    Group,
    api_counts,
    grouped,
    grouped_failures,
    place,
)
from trainferry.migrate.rule import Concern, Outcome
from trainferry.report.words import painted

_MOST_PLACES = 4
_MOST_LINES = 12


def text_report(migration: Migration, *, colour: bool, width: int = 100) -> str:
    """The summary, at most a few screens long; the HTML report has everything."""
    return "\n".join(_Text(migration, colour, width).lines()) + "\n"


class _Text:
    def __init__(self, migration: Migration, colour: bool, width: int) -> None:
        self.migration = migration
        self.colour = colour
        self.width = max(60, min(width, 140))

    def lines(self) -> Iterator[str]:
        yield from self.opening()
        yield from self.findings(Outcome.BY_HAND, "by hand", "red")
        yield from self.findings(Outcome.CHECK, "check", "yellow")
        yield from self.changed()
        yield from self.apis()
        yield from self.not_read()

    def opening(self) -> Iterator[str]:
        migration = self.migration
        if migration.verdict is Verdict.READY:
            yield self.paint(migration.verdict.value, "bold", "green")
        elif migration.verdict is Verdict.NOT_TENSORFLOW:
            yield self.paint(migration.verdict.value, "bold")
        else:
            yield self.paint(migration.verdict.value, "bold", "red")
            yield from (f"  {sentence}" for sentence in migration.missing())
        files = counted(len(migration.files), "file")
        facts = [files, f"{len(migration.changed):,} changed"]
        facts += [f"{migration.counts[outcome]:,} {_WORD[outcome]}" for outcome in Outcome]
        if migration.suppressed:
            facts.append(f"{migration.suppressed:,} ignored as the project asks")
        if migration.in_baseline:
            facts.append(f"{migration.in_baseline:,} in the baseline")
        yield self.paint(", ".join(facts), "dim")

    def findings(self, outcome: Outcome, word: str, colour: str) -> Iterator[str]:
        groups = grouped(self.migration.of(outcome))
        if not groups:
            return
        yield ""
        yield self.paint(f"{word}: {outcome.value.partition(':')[0]}", "bold", colour)
        for concern in Concern:
            some = [group for group in groups if group.concern is concern]
            if some:
                yield f"  {self.paint(concern.value, 'dim')}"
                for group in some[:_MOST_LINES]:
                    yield from self.group(group)
                if len(some) > _MOST_LINES:
                    yield f"    … and {len(some) - _MOST_LINES:,} more kinds: see the report"

    def group(self, group: Group) -> Iterator[str]:
        shown = ", ".join(place(told) for told in group.told[:_MOST_PLACES])
        more = len(group.told) - _MOST_PLACES
        where = shown + (f" and {more:,} more" if more > 0 else "")
        yield f"    {self.paint(group.rule, 'cyan')}  {where}"
        yield from textwrap.wrap(
            group.message,
            self.width,
            initial_indent=" " * 6,
            subsequent_indent=" " * 6,
            break_long_words=False,
            break_on_hyphens=False,
        )

    def changed(self) -> Iterator[str]:
        told = self.migration.of(Outcome.CHANGED)
        if told:
            rules = Counter(one.rule.name for one in told)
            yield ""
            yield self.paint(f"changed: {Outcome.CHANGED.value}", "bold", "green")
            parts = [f"{name} {number:,}" for name, number in rules.most_common()]
            yield from textwrap.wrap(
                ", ".join(parts), self.width, initial_indent="  ", subsequent_indent="  "
            )

    def apis(self) -> Iterator[str]:
        counts = api_counts(self.migration)
        if counts:
            names = counted(len(self.migration.apis), "name")
            yield ""
            yield self.paint(f"{names} of TensorFlow called {counts.total():,} times", "bold")
            for verdict, number in counts.most_common():
                yield f"  {number:>7,}  {verdict.value}"

    def not_read(self) -> Iterator[str]:
        migration = self.migration
        if migration.failures:
            yield ""
            yield self.paint("our mistake: these files are as they were", "bold", "red")
            groups = grouped_failures(migration.failures)
            for group in groups[:_MOST_LINES]:
                yield f"  {self.paint(group.rule, 'cyan')}  {group.where()}"
                yield f"      {group.reason}"
            if len(groups) > _MOST_LINES:
                yield f"  … and {len(groups) - _MOST_LINES:,} more kinds: see the report"
        if migration.unreadable:
            yield ""
            yield self.paint("not read", "bold", "yellow")
            for one in migration.unreadable[:_MOST_LINES]:
                yield f"  {one.path}:{one.line}  {one.reason}"
            if len(migration.unreadable) > _MOST_LINES:
                yield f"  … and {len(migration.unreadable) - _MOST_LINES:,} more: see the report"

    def paint(self, text: str, *styles: str) -> str:
        return painted(text, *styles) if self.colour else text


_WORD = {Outcome.CHANGED: "rewritten", Outcome.CHECK: "to check", Outcome.BY_HAND: "by hand"}
