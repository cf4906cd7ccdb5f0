"""Gathers what was found: by the checks, the hub, the ends of scripts, and the comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from trainferry.rehearse.check import check_run, joined
from trainferry.rehearse.compare import compare
from trainferry.rehearse.comparing.comparison import Comparison
from trainferry.rehearse.comparing.findings import comparison_findings
from trainferry.rehearse.facts import read_facts
from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.places import Places
from trainferry.rehearse.precision import precision_findings
from trainferry.rehearse.rehearsal import Compared
from trainferry.rehearse.sides import Went
from trainferry.rehearse.tasks import control_of

_ORDER = list(Severity)
_HANGS = "run-hangs"


@dataclass(frozen=True)
class Gathered:
    """What the report is about."""

    findings: tuple[Finding, ...]
    compared: tuple[Compared, ...]
    lines: tuple[tuple[str, str], ...]


def gather_findings(
    sides: Sequence[Went], comparisons: Mapping[str, Comparison], noise: Comparison | None
) -> Gathered:
    """All findings, the gravest first, with places of the project and the text of their lines.

    `comparisons` are those of `compare_sides`, `noise` is how the original differs from itself.
    """
    migrated = sides[0]
    found = list(_found(migrated))
    compared = []
    for went in sides:
        if went.task.name in comparisons:
            told, more = _compared(went, sides, comparisons[went.task.name], noise)
            compared += told
            found += more
    places = [migrated.places.in_project(finding) for finding in found]
    findings = sorted(joined(places), key=lambda one: _ORDER.index(one.severity))
    lines = tuple(_lines(findings, migrated.places))
    return Gathered(tuple(findings), tuple(compared), lines)


def compare_sides(sides: Sequence[Went]) -> dict[str, Comparison]:
    """Each run that followed another one compared with that, by the name of its task."""
    return {
        went.task.name: compare(went.homes[0], _followed(went, sides).homes[0])
        for went in sides
        if went.task.follows and went.side.failed is None
    }


def _found(migrated: Went) -> Iterator[Finding]:
    """What checks, stand-ins and hub say, and why scripts stopped if none of these says it."""
    facts = [read_facts(home) for home in migrated.homes]
    yield from check_run(facts, migrated.hub)
    for judgement in migrated.judgements:
        finding = judgement.finding
        if finding is not None and not (finding.check == _HANGS and migrated.hub):
            yield finding


def _compared(
    went: Went, sides: Sequence[Went], comparison: Comparison, noise: Comparison | None
) -> tuple[list[Compared], list[Finding]]:
    """A run and the one that it followed; and an original and itself, where that was asked."""
    followed = _followed(went, sides)
    names = f"{went.side.name} and {followed.side.name}"
    if went.task.precision is not None:
        told = _told(names, comparison, _apart(comparison), is_claim=False)
        return [told], precision_findings(went.homes[0])
    told = _told(names, comparison, comparison.summary, is_claim=True)
    findings = comparison_findings(comparison, noise)
    if noise is None:
        return [told], findings
    names = f"{control_of(went.task, 1).title} and {went.side.name}"
    again = _told(names, noise, noise.summary, is_claim=False)
    return [replace(told, is_noise=comparison.is_within(noise)), again], findings


def _followed(went: Went, sides: Sequence[Went]) -> Went:
    (followed,) = [one for one in sides if one.task.name == went.task.follows]
    return followed


def _told(names: str, comparison: Comparison, summary: str, *, is_claim: bool) -> Compared:
    parting = comparison.parting
    return Compared(
        what=names,
        steps=len(comparison.trained),
        agrees=comparison.agrees,
        is_claim=is_claim,
        summary=f"{names}: {summary}",
        parts_at=parting[0] if parting else None,
        parts_in=f"{parting[1].kind} {parting[1].name}".strip() if parting else "",
        rows=comparison.rows,
    )


def _apart(comparison: Comparison) -> str:
    """How far two runs are apart that nobody expects to be equal."""
    kinds = ("loss", "gradient", "weight")
    found = [(kind, one.relative) for kind in kinds if (one := comparison.largest(kind))]
    parts = ", ".join(f"{kind} {relative:.1e}" for kind, relative in found)
    steps = len(comparison.trained)
    return f"apart in {steps} steps by at most: {parts}" if parts else "no step in common"


def _lines(findings: Sequence[Finding], places: Places) -> Iterator[tuple[str, str]]:
    for place in dict.fromkeys(place for finding in findings for place in finding.places):
        if (text := places.line(place)) is not None:
            yield place, text
