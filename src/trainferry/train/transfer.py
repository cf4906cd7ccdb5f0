"""Weights of another run as the start of a new one: what fits is taken, the rest is told."""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import torch
from torch import Tensor

from trainferry.counted import counted
from trainferry.errors import CheckpointError, UsageError
from trainferry.train.averaging import WeightAverage
from trainferry.train.checkpoint import load_weights
from trainferry.train.optimizer import is_head
from trainferry.train.recipe.read import recipe_differences
from trainferry.train.recipe.sections import Recipe
from trainferry.train.recipe.tasks import ClassifyRecipe, RecogniseRecipe
from trainferry.train.run import Run
from trainferry.train.run_folder import saved_recipe
from trainferry.train.tf_checkpoint.locate import is_tensorflow
from trainferry.train.tf_checkpoint.start import starting_weights

# What a network takes for granted about the values of its pictures.
_VALUES = ("picture.mean", "picture.deviation", "picture.order", "picture.scale")


@dataclass(frozen=True)
class Transfer:
    """Which weights another run gave, and which not, with the reason."""

    loaded: tuple[str, ...]
    left: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()


def transfer_weights(run: Run, origin: Path, exclude: Sequence[str]) -> Transfer:
    """Load what fits by name and shape from another run; tell what does not, and why."""
    own = run.network.state_dict()
    loaded: dict[str, Tensor] = {}
    left: list[tuple[str, str]] = []
    other_classes = _classes_of(origin) not in (None, classes_in(run.recipe))
    shared = _shared_characters(origin, run.recipe) if other_classes else {}
    notes = _notes(run.recipe, origin)
    given, not_given, expected = _weights_in(origin, run)
    _check_patterns(exclude, given)
    for name, value in given.items():
        if name not in own:
            left.append((name, "the network has no such weight"))
        elif any(fnmatchcase(name, pattern) for pattern in exclude):
            left.append((name, "excluded"))
        elif shared and is_head(name) and own[name].shape[1:] == value.shape[1:]:
            loaded[name] = own[name].clone()
            loaded[name][list(shared)] = value[list(shared.values())].to(own[name])
            those = f"{len(shared) - 1:,} of {counted(len(own[name]) - 1, 'character')}"
            notes += (f"{name}: {those} were known there, and keep their weights",)
        elif own[name].shape != value.shape:
            shapes = f"{tuple(value.shape)} there, {tuple(own[name].shape)} here"
            left.append((name, f"its shape is {shapes}"))
        elif other_classes and is_head(name):
            left.append((name, f"its classes stand for other {_class_word(run.recipe)}"))
        else:
            loaded[name] = value
    if not loaded:
        raise CheckpointError(
            f"nothing in `{origin}` fits the network `{run.recipe.network.name}`",
            hint="give a run, a checkpoint (also TensorFlow's) or a .safetensors file of the same "
            "network",
        )
    known = loaded.keys() | dict(left)
    left += [(name, "not in the file") for name in own if name in expected - known]
    left += not_given
    run.network.load_state_dict({**own, **loaded})
    if run.average is not None:
        run.average = WeightAverage(run.network, run.average.decay)
    return Transfer(tuple(loaded), tuple(left), notes)


def _check_patterns(exclude: Sequence[str], names: Collection[str]) -> None:
    """A misspelt pattern would take over what the user wants left out."""
    for pattern in exclude:
        if not any(fnmatchcase(name, pattern) for name in names):
            parts = sorted({name.partition(".")[0] for name in names})
            raise UsageError(
                f"no weight is called like `{pattern}`, which --exclude leaves out",
                hint=f"`*` stands for anything; names begin with: {', '.join(parts)}",
            )


def _weights_in(
    origin: Path, run: Run
) -> tuple[dict[str, Tensor], list[tuple[str, str]], Set[str]]:
    """Return weights under our names, what else is there, and which a whole network would have."""
    if _recipe_of(origin) is not None or not is_tensorflow(origin):
        return load_weights(origin), [], run.network.state_dict().keys()
    found = starting_weights(origin, run.recipe.network)
    weights = {name: torch.from_numpy(value) for name, value in found.weights.items()}
    return weights, list(found.left), found.expected


def _notes(recipe: Recipe, origin: Path) -> tuple[str, ...]:
    """Say which pictures the weights were trained on, where the new run sees others."""
    found = _recipe_of(origin)
    if found is None:
        return ()
    return tuple(
        f"{key} was {was!r} where the weights come from, is {now!r} here: they see other values"
        for key, (was, now) in recipe_differences(found, recipe).items()
        if key in _VALUES
    )


def _shared_characters(origin: Path, recipe: Recipe) -> dict[int, int]:
    """Return where the characters that two CTC networks know stand here, and where there.

    The blank, which is last, goes with them. Nothing shared is an empty dictionary.
    """
    found = _recipe_of(origin)
    if found is None:
        return {}
    old, new = found.task, recipe.task
    if not isinstance(old, RecogniseRecipe) or not isinstance(new, RecogniseRecipe):
        return {}
    here, there = new.alphabet, old.alphabet
    known = {character: place for place, character in enumerate(there)}
    shared = {place: known[one] for place, one in enumerate(here) if one in known}
    return shared | {len(here): len(there)} if shared else {}


def classes_in(recipe: Recipe) -> Sequence[str]:
    """Return what the classes of a recipe's network stand for, in their order."""
    task = recipe.task
    if isinstance(task, RecogniseRecipe):
        return task.alphabet
    return task.classes if isinstance(task, ClassifyRecipe) else task.charset


def _classes_of(origin: Path) -> Sequence[str] | None:
    found = _recipe_of(origin)
    return None if found is None else classes_in(found)


def _recipe_of(origin: Path) -> Recipe | None:
    """Return the recipe of a run or checkpoint; a bare file of weights has none."""
    folder = origin.parent.parent if (origin / "checkpoint.json").is_file() else origin
    return saved_recipe(folder) if (folder / "recipe.toml").is_file() else None


def _class_word(recipe: Recipe) -> str:
    return "things" if isinstance(recipe.task, ClassifyRecipe) else "characters"
