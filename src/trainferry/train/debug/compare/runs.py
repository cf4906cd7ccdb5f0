"""What two runs were made of: recipe, data, device, versions, checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trainferry.errors import CheckpointError, UsageError
from trainferry.train.checkpoint import find_checkpoint, list_checkpoints, read_facts
from trainferry.train.journal import read_journal
from trainferry.train.recipe.read import recipe_differences
from trainferry.train.run_folder import saved_recipe


def run_folder(path: Path) -> Path:
    """Return the run of a run folder, or of one of its checkpoints."""
    return path.parent.parent if (path / "checkpoint.json").is_file() else path


def check_comparable(one: Path, other: Path) -> None:
    """Raise UsageError unless both are runs of the same kind of network."""
    names = [saved_recipe(run_folder(path)).network.name for path in (one, other)]
    if names[0] != names[1]:
        raise UsageError(
            f"`{one}` is a run of {names[0]}, `{other}` of {names[1]}: no layer is the same",
            hint="compare two runs of one network; `trainferry evaluate` scores any two",
        )


def run_differences(one: Path, other: Path) -> dict[str, tuple[Any, Any]]:
    """Return all that differs in how the runs were made, recipe keys first."""
    one, other = run_folder(one), run_folder(other)
    recipes = recipe_differences(saved_recipe(one), saved_recipe(other))
    mine, theirs = _facts(one), _facts(other)
    facts = {name: (mine.get(name), theirs.get(name)) for name in {**mine, **theirs}}
    return {**recipes, **{name: pair for name, pair in facts.items() if pair[0] != pair[1]}}


def choose_checkpoints(one: Path, other: Path, asked: str) -> list[tuple[Path, Path]]:
    """Return pairs of checkpoints: `last`, `best`, a step, or `common` for all that both have."""
    fixed = [path if run_folder(path) != path else None for path in (one, other)]
    if asked != "common" or any(fixed):
        which = "last" if asked == "common" else asked
        mine, theirs = (
            chosen or find_checkpoint(path, which)
            for chosen, path in zip(fixed, (one, other), strict=True)
        )
        return [(mine, theirs)]
    theirs_by_name = {path.name: path for path in list_checkpoints(other)}
    pairs = [
        (path, theirs_by_name[path.name])
        for path in list_checkpoints(one)
        if path.name in theirs_by_name
    ]
    if not pairs:
        raise CheckpointError(
            f"`{one}` and `{other}` have no checkpoint of the same step",
            hint="compare --checkpoint last, or two folders checkpoints/step-…",
        )
    return pairs


def _facts(folder: Path) -> dict[str, Any]:
    """Return what the journal and the newest checkpoint tell of how a run was made."""
    facts: dict[str, Any] = {}
    if (folder / "journal.jsonl").is_file():
        started = [entry for entry in read_journal(folder) if entry.get("event") == "started"]
        if started:
            facts["device"] = started[-1].get("device")
            facts |= started[-1].get("facts", {})
    if found := list_checkpoints(folder):
        saved = read_facts(found[-1])
        facts |= {"torch": saved.get("torch"), "samples": saved.get("samples")}
        facts |= {"last step": saved.get("step"), "batches taken": saved.get("position")}
    return facts
