"""The report in SARIF 2.1.0, the form that code hosts show beside the lines of a change."""

from __future__ import annotations

import hashlib
from typing import Any

from trainferry.rehearse.catalogue import all_checks
from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.rehearsal import Rehearsal
from trainferry.report.sarif import location, rule_json, sarif_log

_LEVELS = {Severity.REFUSED: "error", Severity.RISK: "warning", Severity.NOTE: "note"}


def sarif_report(rehearsal: Rehearsal) -> dict[str, Any]:
    """One run with all checks and findings; scripts that failed are notifications."""
    pages = {name: (check.title, check.page) for name, check in all_checks().items()}
    for finding in rehearsal.findings:
        pages.setdefault(finding.check, (finding.check, finding.hint))
    index = {name: place for place, name in enumerate(pages)}
    failed = [
        {"level": "error", "message": {"text": f"{side.name}: {rank.ending}\n{rank.error}".strip()}}
        for side in rehearsal.sides
        if (rank := side.failed) is not None
    ]
    return sarif_log(
        [rule_json(name, title, page, {}) for name, (title, page) in pages.items()],
        [_result(finding, index[finding.check]) for finding in rehearsal.findings],
        failed,
        successful=not failed,
    )


def _result(finding: Finding, index: int) -> dict[str, Any]:
    return {
        "ruleId": finding.check,
        "ruleIndex": index,
        "kind": "fail",
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{finding.message} ({finding.hint})"},
        "locations": [location(*_split(place)) for place in finding.places],
        "partialFingerprints": {"trainferry/v1": _fingerprint(finding)},
        "properties": {
            "severity": finding.severity.value,
            "operators": list(finding.operators),
            "ranks": list(finding.ranks),
        },
    }


def _split(place: str) -> tuple[str, int]:
    name, colon, line = place.rpartition(":")
    return (name, int(line)) if colon and line.isdigit() else (place, 1)


def _fingerprint(finding: Finding) -> str:
    """The same for the same finding when lines above it have moved."""
    files = sorted({_split(place)[0] for place in finding.places})
    told = "\0".join([finding.check, *files, *sorted(finding.operators)[:5]])
    return hashlib.sha256(told.encode()).hexdigest()[:16]
