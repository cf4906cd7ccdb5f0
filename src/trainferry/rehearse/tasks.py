"""Which runs a rehearsal makes: the migrated project, its original, and one for each comparison."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from trainferry.rehearse.plan import Plan


@dataclass(frozen=True)
class Task:
    """One run to do: `name` is its folder, `title` what people call it."""

    name: str
    title: str
    project: Path
    entry: PurePosixPath
    ranks: int = 1
    is_migrated: bool = True
    is_compared: bool = False
    """Randomness is pinned and values are recorded."""
    follows: str = ""
    """The run whose weights and random numbers it starts with; it is compared with that."""
    precision: str | None = None
    is_control: bool = False
    """Once more what it follows, to see how far that differs from itself."""


def plan_sides(plan: Plan) -> Iterator[Task]:
    """The migrated project first: the others are run to compare with it.

    Ranks share the work, so their numbers are others than those of one: with several ranks the
    migrated project runs once more by itself to be compared.
    """
    wishes = plan.wishes
    is_compared = plan.original is not None or wishes.precision is not None
    migrated = Task(
        "migrated",
        "migrated",
        plan.project,
        plan.entry,
        wishes.ranks,
        is_compared=is_compared and wishes.ranks == 1,
    )
    yield migrated
    compared = migrated.name
    if is_compared and wishes.ranks > 1:
        compared = "migrated_alone"
        title = "migrated, one rank"
        yield Task(compared, title, plan.project, plan.entry, is_compared=True)
    if plan.original is not None:
        yield Task(
            "original",
            "original",
            plan.original,
            plan.original_entry or plan.entry,
            is_migrated=False,
            is_compared=True,
            follows=compared,
        )
    if wishes.precision:
        yield Task(
            "migrated_precision",
            f"migrated in {wishes.precision}",
            plan.project,
            plan.entry,
            is_compared=True,
            follows=compared,
            precision=wishes.precision,
        )


def control_of(original: Task, number: int) -> Task:
    """The same run again, with the same weights and random numbers."""
    return replace(
        original,
        name=f"{original.name}_again_{number}",
        title=f"{original.title} again",
        follows=original.name,
        is_control=True,
    )
