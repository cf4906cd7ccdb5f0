"""What the classes of an imported network are called, and whether one of them is the background."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from trainferry.errors import CheckpointError, UsageError
from trainferry.train.data.photos.classes import CLASSES, find_classes
from trainferry.train.recipe.sections import Recipe
from trainferry.train.recipe.tasks import ClassifyRecipe

# Of 1000 or 1001 outputs, everybody means the classes of ImageNet.
_IMAGENET = 1000
_NAMES = "give a text file with one name a line, or the classes.json of the data"


def read_class_names(path: Path) -> tuple[str, ...]:
    """Read one name a line, or the classes.json of a folder of records; line n names label n."""
    if path.name == CLASSES or path.is_dir():
        classes = find_classes(path if path.is_dir() else path.parent)
        if classes is None:
            raise UsageError(f"there is no {CLASSES} at {path}", hint=_NAMES)
        return tuple(one.name for one in classes)
    try:
        lines = path.read_text(encoding="utf-8").rstrip().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read names of classes from {path}: {error}", hint=_NAMES
        ) from error
    names = tuple(line.strip() for line in lines)
    if not names or not all(names):
        line = names.index("") + 1 if names else 1
        raise UsageError(f"line {line} of {path} names no class", hint=_NAMES)
    return names


def with_class_names(recipe: Recipe, outputs: int, names: tuple[str, ...] | None) -> Recipe:
    """Put the classes of the checkpoint into the recipe; without names they are numbered.

    Raises CheckpointError where names and background together are not `outputs`.
    """
    task = recipe.task
    assert isinstance(task, ClassifyRecipe)
    if names is None and task.classes_from == "recipe":
        names = task.classes
    if names is None:
        _check_imagenet(outputs, task.background)
        names = tuple(f"class {number}" for number in range(1, outputs - task.background + 1))
    elif len(names) + task.background != outputs:
        raise _another_number(outputs, len(names), task.background)
    changed = dataclasses.replace(task, classes=names, classes_from="recipe")
    return dataclasses.replace(recipe, task=changed)


def _check_imagenet(outputs: int, background: bool) -> None:
    if outputs == _IMAGENET + (not background):
        has = "a" if background else "no"
        raise CheckpointError(
            f"the checkpoint has {outputs} classes, and the recipe {has} background among them: "
            f"ImageNet has {_IMAGENET} without it",
            hint=f"pass --set task.background={_toml(not background)}, or name the classes with "
            "--classes",
        )


def _another_number(outputs: int, names: int, background: bool) -> CheckpointError:
    other = names + (not background) == outputs
    return CheckpointError(
        f"the checkpoint has {outputs} classes, but there are {names} names"
        + (" and the background" if background else " and no background"),
        hint=f"pass --set task.background={_toml(not background)}"
        if other
        else "pass the names that the network was trained with: --classes FILE",
    )


def _toml(value: bool) -> str:
    return "true" if value else "false"
