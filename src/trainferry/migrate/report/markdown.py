"""The report as Markdown, for the description of a merge request."""

from __future__ import annotations

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
from trainferry.migrate.rule import Outcome

_MOST_PLACES = 20
_TITLES = {
    Outcome.BY_HAND: "To do by hand",
    Outcome.CHECK: "Rewritten, to be checked",
    Outcome.CHANGED: "Rewritten, same results",
}


def markdown_report(migration: Migration) -> str:
    """The same as the terminal shows, with every place."""
    return "\n".join(_lines(migration)) + "\n"


def _lines(migration: Migration) -> Iterator[str]:
    yield f"## Migration to Ascend NPUs: {migration.verdict.value}"
    yield ""
    files = counted(len(migration.files), "file")
    yield f"{files}, {len(migration.changed):,} changed."
    if migration.verdict is Verdict.MISSING:
        yield ""
        yield from (f"- {sentence}" for sentence in migration.missing())
    for outcome in (Outcome.BY_HAND, Outcome.CHECK, Outcome.CHANGED):
        groups = grouped(migration.of(outcome))
        if groups:
            yield f"\n### {_TITLES[outcome]} ({migration.counts[outcome]:,})\n"
            yield "| rule | why | what | where |"
            yield "|---|---|---|---|"
            yield from (_row(group) for group in groups)
    yield from _apis(migration)
    if migration.unreadable:
        yield "\n### Not read\n"
        for one in migration.unreadable:
            yield f"- `{one.path}:{one.line}` {_cell(one.reason)}"
    if migration.failures:
        yield "\n### Our mistake: these files are as they were\n"
        for failed in grouped_failures(migration.failures):
            yield f"- {failed.rule}: {failed.where(_MOST_PLACES)}: `{failed.reason}`"


def _row(group: Group) -> str:
    shown = ", ".join(f"`{place(told)}`" for told in group.told[:_MOST_PLACES])
    more = len(group.told) - _MOST_PLACES
    where = shown + (f" and {more:,} more" if more > 0 else "")
    return f"| {group.rule} | {group.concern.value} | {_cell(group.message)} | {where} |"


def _apis(migration: Migration) -> Iterator[str]:
    counts = api_counts(migration)
    if not counts:
        return
    yield "\n### TensorFlow names called\n"
    yield "| calls | on the NPU |"
    yield "|---:|---|"
    for verdict, number in counts.most_common():
        yield f"| {number:,} | {verdict.value} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
