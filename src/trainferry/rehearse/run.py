"""Rehearses a project: runs it and its original, checks what they told, and writes it down."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from trainferry.rehearse.comparing.comparison import Comparison
from trainferry.rehearse.control import find_noise
from trainferry.rehearse.findings import compare_sides, gather_findings
from trainferry.rehearse.plan import Plan
from trainferry.rehearse.prepare.copy import MARK, is_run_folder
from trainferry.rehearse.prepare.tiny import Cutter
from trainferry.rehearse.ranks import Show
from trainferry.rehearse.rehearsal import Outcome, Rehearsal
from trainferry.rehearse.rehearsal_json import write_rehearsal
from trainferry.rehearse.sides import Went, run_side
from trainferry.rehearse.tasks import Task, plan_sides

_NOT_AGAIN = (
    "original again did not come as far: whether its numbers are always the same is unknown"
)


def rehearse(plan: Plan, show: Show) -> Rehearsal:
    """Do all of it; `rehearsal.json` in the run folder holds what is returned."""
    began = time.monotonic()
    make_folder(plan, show)
    cutter = Cutter(plan.folder / "data", plan.wishes.tiny)
    prepared: list[str] = []
    sides: list[Went] = []
    for planned in plan_sides(plan):
        task = _after(sides, planned)
        if task is None:
            prepared.append(f"{planned.title} was not run: the run before it did not end well")
            continue
        went = run_side(task, plan, cutter, show)
        prepared += went.prepared
        sides.append(went)
    comparisons = compare_sides(sides)
    noise = None
    apart = _original_apart(sides, comparisons)
    if apart is not None and not plan.wishes.in_project:  # there it would go on from what it wrote
        noise = find_noise(*apart, lambda task: run_side(task, plan, cutter, show))
        prepared += [] if noise else [_NOT_AGAIN]
    gathered = gather_findings(sides, comparisons, noise)
    rehearsal = Rehearsal(
        plan=plan.as_json(),
        sides=tuple(went.side for went in sides),
        findings=gathered.findings,
        compared=gathered.compared,
        prepared=tuple(dict.fromkeys(prepared)),
        lines=gathered.lines,
        seconds=time.monotonic() - began,
    )
    write_rehearsal(rehearsal, plan.folder)
    return rehearsal


def _original_apart(
    sides: Sequence[Went], comparisons: Mapping[str, Comparison]
) -> tuple[Went, Comparison] | None:
    """The original and how it differs from the migrated run; None if it does not."""
    for went in sides:
        comparison = comparisons.get(went.task.name)
        if comparison is not None and not went.task.is_migrated and comparison.trained:
            return None if comparison.agrees else (went, comparison)
    return None


def make_folder(plan: Plan, show: Show) -> None:
    """Make the run folder and note the command in it; an earlier rehearsal makes room."""
    if is_run_folder(plan.folder):
        show.say(f"{plan.folder} holds an earlier rehearsal, which is replaced")
        _empty(plan.folder)
    plan.folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(plan.as_json(), indent=1)
    (plan.folder / MARK).write_text(text, encoding="utf-8")


def _empty(folder: Path) -> None:
    """The mark goes last: a folder that is half empty is still known as ours."""
    for path in sorted(folder.iterdir(), key=lambda path: path.name == MARK):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _after(sides: list[Went], task: Task) -> Task | None:
    """The run to do after these: a comparison with one that failed says nothing.

    Where the migrated script failed by itself, its original still tells whether it did before.
    """
    if all(rank.outcome is Outcome.GOOD for went in sides for rank in went.side.ranks):
        return task
    failed = sides[0].side.failed is not None
    if task.is_migrated or not failed or any(one.timed_out for one in sides[0].judgements):
        return None
    return replace(task, is_compared=False, follows="")
