"""Gathers what was found: by the checks, the hub, the ends of scripts, and the comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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

_ORDER = list(Severity)
_HANGS = "run-hangs"


@dataclass(frozen=True)
class Gathered:
    """What the report is about."""

    findings: tuple[Finding, ...]
    compared: tuple[Compared, ...]
    lines: tuple[tuple[str, str], ...]


def gather_findings(sides: Sequence[Went]) -> Gathered:
    """All findings, the gravest first, with places of the project and the text of their lines."""
    migrated = sides[0]
    found = list(_found(migrated))
    compared = []
    for went in sides:
        if went.task.follows and went.side.failed is None:
            told, more = _compare(went, sides)
            compared.append(told)
            found += more
    places = [migrated.places.in_project(finding) for finding in found]
    findings = sorted(joined(places), key=lambda one: _ORDER.index(one.severity))
    lines = tuple(_lines(findings, migrated.places))
    return Gathered(tuple(findings), tuple(compared), lines)


def _found(migrated: Went) -> Iterator[Finding]:
    """What checks, stand-ins and hub say, and why scripts stopped if none of these says it."""
    facts = [read_facts(home) for home in migrated.homes]
    yield from check_run(facts, migrated.hub)
    for judgement in migrated.judgements:
        finding = judgement.finding
        if finding is not None and not (finding.check == _HANGS and migrated.hub):
            yield finding


def _compare(went: Went, sides: Sequence[Went]) -> tuple[Compared, list[Finding]]:
    """A run and the one that it followed."""
    (followed,) = [one for one in sides if one.task.name == went.task.follows]
    names = f"{went.side.name} and {followed.side.name}"
    comparison = compare(went.homes[0], followed.homes[0])
    parting = comparison.parting
    is_claim = went.task.precision is None
    told = Compared(
        what=names,
        steps=len(comparison.trained),
        agrees=comparison.agrees,
        is_claim=is_claim,
        summary=f"{names}: {comparison.summary if is_claim else _apart(comparison)}",
        parts_at=parting[0] if parting else None,
        parts_in=f"{parting[1].kind} {parting[1].name}".strip() if parting else "",
        rows=comparison.rows,
    )
    if is_claim:
        return told, comparison_findings(comparison)
    return told, precision_findings(went.homes[0])


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
