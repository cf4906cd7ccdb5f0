"""The report in SARIF 2.1.0, the form that code hosts show beside the lines of a change."""

from __future__ import annotations

from typing import Any

from trainferry.migrate.baseline import fingerprints
from trainferry.migrate.migration import Migration, Told
from trainferry.migrate.rule import IMPORT_RULE, Concern, Outcome, all_rules
from trainferry.report.sarif import location, rule_json, sarif_log


def sarif_report(migration: Migration) -> dict[str, Any]:
    """One run with all rules and findings; files that were not read are notifications."""
    rules = [IMPORT_RULE, *all_rules()]
    index = {rule.name: place for place, rule in enumerate(rules)}
    prints = fingerprints(migration.told)
    unread = [
        _notification(str(one.path), one.line, one.reason, "warning")
        for one in migration.unreadable
    ]
    failed = [_notification(str(one.path), 1, one.trace, "error") for one in migration.failures]
    return sarif_log(
        [
            rule_json(rule.name, rule.title, rule.page, {"concern": rule.concern.name.lower()})
            for rule in rules
        ],
        [
            _result(told, index[told.rule.name], mark)
            for told, mark in zip(migration.told, prints, strict=True)
        ],
        unread + failed,
        successful=not migration.failures,
    )


def _result(told: Told, rule_index: int, fingerprint: str) -> dict[str, Any]:
    return {
        "ruleId": told.rule.name,
        "ruleIndex": rule_index,
        "kind": "fail",
        "level": _level(told),
        "message": {"text": f"{told.message} ({told.outcome.value.partition(':')[0]})"},
        "locations": [location(str(told.path), told.line, told.column, told.end_line)],
        "partialFingerprints": {"trainferry/v1": fingerprint},
        "properties": {
            "outcome": told.outcome.name.lower(),
            "concern": told.concern.name.lower(),
        },
    }


def _level(told: Told) -> str:
    if told.outcome is Outcome.BY_HAND:
        return "error" if told.concern is Concern.RUN else "warning"
    return "warning" if told.outcome is Outcome.CHECK else "note"


def _notification(path: str, line: int, text: str, level: str) -> dict[str, Any]:
    return {
        "level": level,
        "message": {"text": text},
        "locations": [location(path, line, 1, line)],
    }
