"""A rehearsal as JSON and back: `rehearsal.json` in the run folder."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from trainferry import __version__
from trainferry.errors import RehearsalError
from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.rehearsal import Compared, Outcome, RankRun, Rehearsal, Side

FILE = "rehearsal.json"


def as_json(rehearsal: Rehearsal) -> dict[str, Any]:
    """The whole rehearsal; `version` counts changes of this form."""
    return {
        "version": 1,
        "tool": f"trainferry {__version__}",
        "verdict": rehearsal.verdict.name.lower(),
        "reasons": rehearsal.reasons(),
        "counts": {one.value: rehearsal.count(one) for one in Severity},
        "plan": rehearsal.plan,
        "findings": [finding_json(finding) for finding in rehearsal.findings],
        "compared": [_plain(asdict(one)) for one in rehearsal.compared],
        "sides": [_side_json(side) for side in rehearsal.sides],
        "prepared": list(rehearsal.prepared),
        "lines": dict(rehearsal.lines),
        "seconds": rehearsal.seconds,
    }


def write_rehearsal(rehearsal: Rehearsal, folder: Path) -> Path:
    path = folder / FILE
    path.write_text(json.dumps(as_json(rehearsal), indent=1), encoding="utf-8")
    return path


def read_rehearsal(folder: Path) -> Rehearsal:
    """Read what `write_rehearsal` wrote; numbers that are none come back as None."""
    path = folder / FILE
    try:
        return _from_json(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise RehearsalError(
            f"{folder} holds no {FILE}", hint="name the run folder of a rehearsal that has ended"
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise RehearsalError(f"{path} is damaged: {error}", hint="rehearse again") from None


def finding_json(finding: Finding) -> dict[str, Any]:
    return {**asdict(finding), "severity": finding.severity.value}


def _side_json(side: Side) -> dict[str, Any]:
    ranks = [{**_plain(asdict(rank)), "outcome": rank.outcome.name.lower()} for rank in side.ranks]
    return {"name": side.name, "project": side.project, "ranks": ranks}


def _plain(value: Any) -> Any:  # noqa: ANN401  # anything that JSON can hold
    """JSON has no NaN and no infinity: they stand as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value


def _from_json(told: dict[str, Any]) -> Rehearsal:
    return Rehearsal(
        plan=told["plan"],
        sides=tuple(
            Side(side["name"], side["project"], tuple(map(_rank, side["ranks"])))
            for side in told["sides"]
        ),
        findings=tuple(map(_finding, told["findings"])),
        compared=tuple(Compared(**{**one, "rows": tuple(one["rows"])}) for one in told["compared"]),
        prepared=tuple(told["prepared"]),
        lines=tuple(told["lines"].items()),
        seconds=told["seconds"],
    )


def _rank(told: dict[str, Any]) -> RankRun:
    losses = tuple(None if loss is None else float(loss) for loss in told["losses"])
    return RankRun(
        **{
            **told,
            "outcome": Outcome[told["outcome"].upper()],
            "losses": losses,
            "last_lines": tuple(told["last_lines"]),
        }
    )


def _finding(told: dict[str, Any]) -> Finding:
    groups = {name: tuple(told[name]) for name in ("places", "operators", "ranks")}
    return Finding(**{**told, "severity": Severity(told["severity"]), **groups})
