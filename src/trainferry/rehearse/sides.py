"""One run of a rehearsal: prepares a project and its ranks, runs them, and says how it went."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainferry.rehearse.endings import Judgement, judge
from trainferry.rehearse.hub_checks import HubFinding
from trainferry.rehearse.places import Places
from trainferry.rehearse.plan import Plan
from trainferry.rehearse.prepare.arguments import move_arguments
from trainferry.rehearse.prepare.copy import Copy, copy_project, in_place
from trainferry.rehearse.prepare.program import start_of
from trainferry.rehearse.prepare.rank_environment import (
    FOREIGN,
    move_python_path,
    rank_environment,
    write_rank_table,
)
from trainferry.rehearse.prepare.tiny import Cutter
from trainferry.rehearse.ranks import Crew, Show, run_ranks
from trainferry.rehearse.rehearsal import RankRun, Side
from trainferry.rehearse.start import ENTRY, STAND_IN, Ending, Limits, script_environment
from trainferry.rehearse.steps import read_steps
from trainferry.rehearse.tasks import Task

_VARIABLES = 20  # whose gradients and values are compared
_SEED = 1
_STOOD_IN = "stood_in.txt"  # what an original said of packages that stand-ins replaced


@dataclass(frozen=True)
class Went:
    """A run that is over."""

    task: Task
    side: Side
    homes: tuple[Path, ...]
    places: Places
    judgements: tuple[Judgement, ...]
    hub: tuple[HubFinding, ...]
    prepared: tuple[str, ...]
    """What was linked, cut or moved for it, and what it wrote through a link."""


def run_side(task: Task, plan: Plan, cutter: Cutter, show: Show) -> Went:
    """Prepare one run, do it, and read how far it came."""
    folder = plan.folder / task.name
    folder.mkdir()
    copy, notes = _prepare_project(task, plan, cutter, folder)
    projects = [task.project, *({plan.project, plan.original or plan.project} - {task.project})]
    arguments = list(plan.arguments)
    if not copy.is_in_place:
        arguments, moved = move_arguments(arguments, projects, copy.root, cutter.place)
        notes += moved
    notes += cutter.told()
    homes = tuple(folder / f"rank_{rank}" for rank in range(task.ranks))
    crew = Crew(
        side=task.title,
        command=(str(plan.interpreter.executable), *start_of(copy.root, task.entry), *arguments),
        folder=copy.root,
        homes=homes,
        environments=tuple(_environments(task, plan, copy, folder)),
        limits=Limits(timeout_seconds=plan.wishes.timeout_seconds),
        steps=plan.wishes.steps,
    )
    for note in notes:
        show.say(f"{task.title}: {note}")
    course = run_ranks(crew, show)
    judged = tuple(
        judge(ending, rank, copy.root, task.entry) for rank, ending in enumerate(course.endings)
    )
    ranks = tuple(
        _rank_run(rank, ending, judgement, homes[rank], plan.folder)
        for rank, (ending, judgement) in enumerate(zip(course.endings, judged, strict=True))
    )
    for note in _afterwards(copy, homes):
        notes.append(note)
        show.say(f"{task.title}: {note}")
    return Went(
        task=task,
        side=Side(task.title, str(task.project), ranks),
        homes=homes,
        places=Places(copy.root, task.entry),
        judgements=judged,
        hub=tuple(course.found),
        prepared=tuple(f"{task.title}: {note}" for note in notes),
    )


def _prepare_project(
    task: Task, plan: Plan, cutter: Cutter, folder: Path
) -> tuple[Copy, list[str]]:
    if plan.wishes.in_project:
        return in_place(task.project), []
    copy = copy_project(task.project, folder / "project")
    notes = [f"{path} was not copied" for path in copy.left_out]
    cutter.cut_copy(copy)
    notes += [f"{link.path} is linked, not copied" for link in copy.links]
    return copy, notes


def _afterwards(copy: Copy, homes: tuple[Path, ...]) -> Iterator[str]:
    """What is known only when the scripts have ended."""
    for link in copy.written_links():
        yield f"the script wrote to {link}, which is linked to the project's own file"
    told = [path.read_text("utf-8") for home in homes if (path := home / _STOOD_IN).is_file()]
    yield from dict.fromkeys("".join(told).splitlines())


def _environments(task: Task, plan: Plan, copy: Copy, folder: Path) -> Iterator[dict[str, str]]:
    wishes = plan.wishes
    table = None
    if task.ranks > 1 and wishes.cluster == "table":
        table = write_rank_table(folder / "rank_table.json", task.ranks)
    for rank in range(task.ranks):
        home = folder / f"rank_{rank}"
        (home / "scratch").mkdir(parents=True)
        more = {"TRAINFERRY_WATCH": str(_write_watch(task, plan, home))}
        if task.is_compared:
            # Sets give the same order in all runs; ranks of one run differ, as on the device.
            more["PYTHONHASHSEED"] = str(_SEED)
        if task.is_migrated:
            cluster: Any = wishes.cluster if task.ranks > 1 else "table"
            more |= rank_environment(rank, task.ranks, cluster=cluster, table=table)
            more["TRAINFERRY_NOTES"] = str(home / "notes.jsonl")
            more["TRAINFERRY_ADAPTER"] = wishes.adapter
            more["TRAINFERRY_OVERFLOW"] = wishes.overflow
        else:
            more["TRAINFERRY_ORIGINAL"] = str(home / _STOOD_IN)
        yield _environment(task, plan, copy, home / "scratch", more)


def _environment(
    task: Task, plan: Plan, copy: Copy, scratch: Path, more: dict[str, str]
) -> dict[str, str]:
    on_path = [ENTRY, STAND_IN] if task.is_migrated else [ENTRY]
    environment = script_environment(on_path, scratch, more)
    projects = [project for project in (plan.project, plan.original) if project]
    environment["PYTHONPATH"] = move_python_path(environment["PYTHONPATH"], projects, copy.root)
    own = {**environment}
    for name in FOREIGN:
        if name not in more:
            own.pop(name, None)
    return own


def _write_watch(task: Task, plan: Plan, home: Path) -> Path:
    """What the probe of one rank shall watch."""
    wanted = {
        "folder": str(home),
        "steps": plan.wishes.steps,
        "values": {"variables": _VARIABLES, "every": 1} if task.is_compared else None,
        "seed": _SEED if task.is_compared else None,
        "follow": str(plan.folder / task.follows / "rank_0") if task.follows else None,
        "precision": task.precision,
    }
    path = home / "watch.json"
    path.write_text(json.dumps(wanted, indent=1), encoding="utf-8")
    return path


def _rank_run(rank: int, ending: Ending, judgement: Judgement, home: Path, folder: Path) -> RankRun:
    steps = read_steps(home)
    return RankRun(
        rank=rank,
        outcome=judgement.outcome,
        ending=str(ending),
        seconds=ending.seconds,
        losses=steps.losses,
        step_seconds=steps.usual_seconds,
        error=judgement.error,
        hint=judgement.hint,
        last_lines=ending.last_lines,
        output=os.path.relpath(ending.output, folder),
    )
