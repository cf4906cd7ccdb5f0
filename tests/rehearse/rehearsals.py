"""Rehearsals for tests of what is made from them."""

from __future__ import annotations

from typing import Any

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.rehearsal import Compared, Outcome, RankRun, Rehearsal, Side

PLAN: dict[str, Any] = {
    "made_by": "trainferry rehearse",
    "command": "trainferry rehearse /home/me/project --entry train.py",
    "project": "/home/me/project",
    "entry": "train.py",
    "python": {"version": "3.7.9", "tensorflow": "1.15.5"},
    "wishes": {"adapter": "patched"},
}
OPEN_BATCH = Finding(
    "open-batch",
    Severity.REFUSED,
    "`images` has no fixed batch",
    "write `drop_remainder=True`",
    ("train.py:12", "data/input.py:3"),
    ("IteratorGetNext",),
    (0, 1),
)
STRINGS = Finding("string-operator", Severity.RISK, "a string", "use a number", ("net.py:7",))
LOOP = Finding("while-loop", Severity.NOTE, "a loop", "look", ("net.py:9",), ranks=(1,))
ROW = {
    "step": 1,
    "original_loss": 2.5,
    "migrated_loss": 2.5,
    "batch": {"name": "", "relative": 0.0},
    "loss": {"name": "loss", "relative": 0.0},
    "gradient": {"name": "dense/kernel", "relative": 3e-7},
    "weight": None,
}
SAME = Compared(
    "original and migrated", 1, True, True, "original and migrated: 1 step agrees", rows=(ROW,)
)
OTHER = Compared("original and migrated", 1, False, True, "the runs part at step 1", rows=(ROW,))


def rank_run(rank: int = 0, outcome: Outcome = Outcome.GOOD, **more: Any) -> RankRun:
    fields = {
        "ending": "ended with exit status 0 after 3 s",
        "seconds": 3.0,
        "losses": (2.5, 2.25, None),
        "step_seconds": 0.5,
        "output": f"migrated/rank_{rank}/output.txt",
        **more,
    }
    return RankRun(rank, outcome, **fields)


def failed_rank(rank: int = 0) -> RankRun:
    return rank_run(
        rank,
        Outcome.FAILED,
        ending="ended with exit status 1 after 3 s",
        error="ValueError: boom",
        hint="all that it printed is in output.txt",
        last_lines=("before", "ValueError: boom"),
    )


def side(*ranks: RankRun, name: str = "migrated") -> Side:
    return Side(name, "/home/me/project", ranks or (rank_run(),))


def rehearsal(*findings: Finding, **more: Any) -> Rehearsal:
    fields = {"plan": PLAN, "sides": (side(),), "findings": findings, "seconds": 9.0, **more}
    return Rehearsal(**fields)
