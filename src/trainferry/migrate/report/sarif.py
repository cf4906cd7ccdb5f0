"""The report in SARIF 2.1.0, the form that code hosts show beside the lines of a change."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from trainferry import __version__
from trainferry.migrate.baseline import fingerprints
from trainferry.migrate.migration import Migration, Told
from trainferry.migrate.rule import IMPORT_RULE, Concern, Outcome, Rule, all_rules

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif_report(migration: Migration) -> dict[str, Any]:
    """One run with all rules and findings; files that were not read are notifications."""
    rules = [IMPORT_RULE, *all_rules()]
    index = {rule.name: place for place, rule in enumerate(rules)}
    prints = fingerprints(migration.told)
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "trainferry",
                        "version": __version__,
                        "rules": [_rule(rule) for rule in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {"PROJECT": {"description": {"text": "the project"}}},
                "results": [
                    _result(told, index[told.rule.name], mark)
                    for told, mark in zip(migration.told, prints, strict=True)
                ],
                "invocations": [
                    {
                        "executionSuccessful": not migration.failures,
                        "toolExecutionNotifications": [
                            *(
                                _notification(str(one.path), one.line, one.reason, "warning")
                                for one in migration.unreadable
                            ),
                            *(
                                _notification(str(one.path), 1, one.trace, "error")
                                for one in migration.failures
                            ),
                        ],
                    }
                ],
            }
        ],
    }


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.name,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.page.strip()},
        "help": {"text": rule.page.strip()},
        "defaultConfiguration": {"level": "warning"},
        "properties": {"concern": rule.concern.name.lower()},
    }


def _result(told: Told, rule_index: int, fingerprint: str) -> dict[str, Any]:
    return {
        "ruleId": told.rule.name,
        "ruleIndex": rule_index,
        "kind": "fail",
        "level": _level(told),
        "message": {"text": f"{told.message} ({told.outcome.value.partition(':')[0]})"},
        "locations": [_location(str(told.path), told.line, told.column, told.end_line)],
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


def _location(path: str, line: int, column: int, end_line: int) -> dict[str, Any]:
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(path), "uriBaseId": "PROJECT"},
            "region": {"startLine": line, "startColumn": column, "endLine": max(line, end_line)},
        }
    }


def _notification(path: str, line: int, text: str, level: str) -> dict[str, Any]:
    return {
        "level": level,
        "message": {"text": text},
        "locations": [_location(path, line, 1, line)],
    }
