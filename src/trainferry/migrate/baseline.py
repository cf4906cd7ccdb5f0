"""Findings that are known already: a file of their fingerprints, so that only new ones count."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from trainferry.errors import UsageError
from trainferry.migrate.migration import Migration, Told


def fingerprints(told: Iterable[Told]) -> list[str]:
    """A mark for each finding that stays when lines above it come and go.

    It is made of the file, the rule and the code; equal ones in a file are numbered.
    """
    seen: Counter[str] = Counter()
    marks: list[str] = []
    for one in told:
        text = "\0".join((str(one.path), one.rule.name, one.text))
        mark = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:24]
        seen[mark] += 1
        marks.append(mark if seen[mark] == 1 else f"{mark}-{seen[mark]}")
    return marks


def write_baseline(migration: Migration, path: Path) -> None:
    """Write down all findings of a migration."""
    content = {"version": 1, "findings": sorted(fingerprints(migration.told))}
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def without_baseline(migration: Migration, path: Path) -> Migration:
    """Leave out the findings that are in the file."""
    hint = "write it anew with --write-baseline"
    try:
        content = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise UsageError(f"there is no baseline {path}", hint=hint) from None
    except ValueError as error:
        raise UsageError(
            f"{path} is not a baseline, for it is no JSON: {error}", hint=hint
        ) from None
    known = content.get("findings") if isinstance(content, dict) else None
    if not isinstance(known, list):
        raise UsageError(f"{path} is not a baseline: it has no list of `findings`", hint=hint)
    marks = fingerprints(migration.told)
    new = tuple(told for told, mark in zip(migration.told, marks, strict=True) if mark not in known)
    return replace(migration, told=new, in_baseline=len(migration.told) - len(new))
