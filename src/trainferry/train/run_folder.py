"""The folder of a run: which recipe is in force there, and whether another may go on in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trainferry.errors import CheckpointError, RecipeError
from trainferry.train.checkpoint import list_checkpoints
from trainferry.train.data.whole_file import write_whole
from trainferry.train.recipe.read import (
    read_recipe,
    recipe_differences,
    recipe_to_toml,
    unsaid_values,
)
from trainferry.train.recipe.sections import Recipe
from trainferry.train.schedule import in_steps

# What a run may change while it goes on: none of it decides what is trained.
_MAY_CHANGE = {
    "loop.log_every",
    "loop.evaluate_every",
    "loop.save_every",
    "loop.keep",
    "loop.patience",
    "loop.evaluate_epochs",
    "loop.save_epochs",
    "loop.stop_at_score",
    "loop.captured",
    "loop.whole_step",
    "data.workers",
    "data.minimum_kept",
}


def saved_recipe(folder: Path, overrides: Sequence[str] = ()) -> Recipe:
    """Return the recipe in force in a run, with some values changed if asked."""
    path = folder / "recipe.toml"
    if not path.is_file():
        raise CheckpointError(
            f"`{folder}` is no run: it has no recipe.toml",
            hint="give the folder that was passed to `trainferry train --run`",
        )
    return read_recipe(path, overrides)


def values_before(folder: Path, recipe: Recipe) -> list[str]:
    """Return `key=value` of what the run in a folder was trained with before there was the key."""
    path = folder / "recipe.toml"
    if not path.is_file() or not _has_begun(folder):
        return []
    unsaid = unsaid_values(path, recipe)
    return [f"{key}={value}" for key, value in unsaid.items() if key not in _MAY_CHANGE]


def open_folder(folder: Path, recipe: Recipe, samples: int | None = None) -> None:
    """Make the run's folder, or check that the run in it is of this recipe."""
    check_folder(folder, recipe, samples)
    path = folder / "recipe.toml"
    if not path.is_file() or not _has_begun(folder):
        write_whole(path, recipe_to_toml(recipe).encode())


def check_folder(folder: Path, recipe: Recipe, samples: int | None = None) -> None:
    """Raise RecipeError unless the folder is free or holds a run of this recipe.

    An imported run may hold epochs that are no steps yet: with `samples` they become so.
    """
    if (folder / "recipe.toml").is_file():
        if not _has_begun(folder):
            return
        saved = saved_recipe(folder)
        saved = saved if samples is None else in_steps(saved, samples)
        differences = {
            key: values
            for key, values in recipe_differences(saved, recipe).items()
            if key not in _MAY_CHANGE
        }
        if differences:
            shown = "; ".join(
                f"{key} was {was!r}, is {now!r}" for key, (was, now) in differences.items()
            )
            raise RecipeError(
                f"`{folder}` holds a run of another recipe: {shown}",
                hint="give another --run folder, or the recipe and --set values it was made with"
                + ("" if list_checkpoints(folder) else "; or delete it, for it has no checkpoint"),
            )
    elif folder.exists() and not folder.is_dir():
        raise RecipeError(
            f"`{folder}` is a file, and a run needs a folder",
            hint="give a new folder to --run, or that of a run",
        )
    elif folder.exists() and any(folder.iterdir()):
        raise RecipeError(
            f"`{folder}` is not empty and holds no run",
            hint="give a new folder: nothing there is overwritten",
        )


def _has_begun(folder: Path) -> bool:
    """Tell whether there is more than a recipe: a start that failed leaves no other trace."""
    return any(entry.name != "recipe.toml" for entry in folder.iterdir())
