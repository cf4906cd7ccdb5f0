"""The report for programs: everything that is known, as JSON."""

from __future__ import annotations

from typing import Any

from trainferry import __version__
from trainferry.migrate.migration import Migration, Told
from trainferry.migrate.report.groups import api_counts


def json_report(migration: Migration) -> dict[str, Any]:
    """The whole report; `version` counts changes of this form."""
    options = migration.options
    return {
        "version": 1,
        "tool": f"trainferry {__version__}",
        "project": str(migration.root),
        "options": {
            "adapter": options.adapter,
            "chip": options.chip,
            "distributed": options.distributed,
            "only": sorted(options.only),
            "skip": sorted(options.skip),
            "also": sorted(options.also),
            "lint": options.lint,
        },
        "verdict": migration.verdict.name.lower(),
        "missing": list(migration.missing()),
        "counts": {
            "files": len(migration.files),
            "files_changed": len(migration.changed),
            **{outcome.name.lower(): number for outcome, number in migration.counts.items()},
            "suppressed": migration.suppressed,
            "in_baseline": migration.in_baseline,
        },
        "findings": [finding_json(told) for told in migration.told],
        "changed_files": [str(file.path) for file in migration.changed],
        "api_calls": {
            verdict.name.lower(): number for verdict, number in api_counts(migration).items()
        },
        "apis": [
            {
                "name": api.name,
                "verdict": api.support.verdict.name.lower(),
                "note": api.support.note,
                "places": [f"{path}:{line}" for path, line in api.places],
            }
            for api in migration.apis
        ],
        "unreadable": [
            {"path": str(one.path), "line": one.line, "reason": one.reason}
            for one in migration.unreadable
        ],
        "skipped": [{"path": str(path), "reason": reason} for path, reason in migration.skipped],
        "failures": [
            {"path": str(one.path), "rule": one.rule, "trace": one.trace}
            for one in migration.failures
        ],
    }


def finding_json(told: Told) -> dict[str, Any]:
    return {
        "rule": told.rule.name,
        "outcome": told.outcome.name.lower(),
        "concern": told.concern.name.lower(),
        "path": str(told.path),
        "line": told.line,
        "column": told.column,
        "end_line": told.end_line,
        "cell": told.cell,
        "text": told.text,
        "message": told.message,
    }
