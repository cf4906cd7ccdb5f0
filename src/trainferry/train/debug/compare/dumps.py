"""Two dumps, tensor by tensor: forward in the order of time, then gradients and weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import Tensor

from trainferry.errors import UsageError
from trainferry.train.debug.compare.difference import Difference
from trainferry.train.debug.dump_files import read_dump, read_index
from trainferry.train.recipe.read import recipe_differences
from trainferry.train.run_folder import saved_recipe

_FACTS = ("step", "batch", "device", "precision", "loss_scale", "samples")


def compare_dumps(one: Path, other: Path) -> list[Difference]:
    """Compare what both hold; what only one holds is told."""
    mine, theirs = _entries(one), _entries(other)
    if not mine.keys() & theirs.keys():
        raise UsageError(
            f"`{one}` and `{other}` hold no layer in common",
            hint="dump the same layers of the same network in both runs",
        )
    reader_one, reader_other = _Reader(one), _Reader(other)
    differences = []
    for key, entry in {**mine, **{k: e for k, e in theirs.items() if k not in mine}}.items():
        found = Difference(entry["layer"], entry["kind"], entry["key"])
        if key in mine and key in theirs:
            found.add(reader_one.read(mine[key]), reader_other.read(theirs[key]))
        else:
            found.shape = tuple(entry["shape"])
            found.reason = f"only in the {'first' if key in mine else 'second'}"
        differences.append(found)
    _measure_gradients(differences)
    return differences


def dump_facts(one: Path, other: Path) -> dict[str, tuple[Any, Any]]:
    """Return what differs in how the dumps were made."""
    mine, theirs = read_index(one), read_index(other)
    runs = [path.resolve().parent.parent for path in (one, other)]
    recipes: dict[str, tuple[Any, Any]] = {}
    if all((run / "recipe.toml").is_file() for run in runs):
        recipes = recipe_differences(saved_recipe(runs[0]), saved_recipe(runs[1]))
    pairs = {name: (mine.get(name), theirs.get(name)) for name in _FACTS}
    return {**recipes, **{name: pair for name, pair in pairs.items() if pair[0] != pair[1]}}


def _measure_gradients(differences: list[Difference]) -> None:
    """Measure gradients of weights by the largest one of their layer.

    Some are zero but for rounding, that of a bias before a batch norm for example.
    """
    largest: dict[str, float] = {}
    of_weights = [each for each in differences if each.name.startswith("weight_gradient.")]
    for each in of_weights:
        here = max(each.one.largest, each.other.largest)
        largest[each.layer] = max(largest.get(each.layer, 0.0), here)
    for each in of_weights:
        each.yardstick = largest[each.layer]


def _entries(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the tensors in the order in which they are worth looking at."""
    entries = read_index(folder)["tensors"]
    ordered = sorted(entries, key=lambda entry: _rank(entry["name"]))
    return {(entry["layer"], entry["key"]): entry for entry in ordered}


def _rank(name: str) -> int:
    """Weights first: they explain all that follows."""
    kinds = ("weight.", "input", "output", "gradient", "weight_gradient.")
    place = next(number for number, kind in enumerate(kinds) if name.startswith(kind))
    return 1 if place == 2 else place  # inputs and outputs in the order of time


class _Reader:
    """Reads a layer's file once, because its tensors follow each other."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = ""
        self._tensors: dict[str, Tensor] = {}

    def read(self, entry: dict[str, Any]) -> Tensor:
        if entry["file"] != self._file:
            self._file, self._tensors = entry["file"], read_dump(self._folder, entry["file"])
        return self._tensors[entry["key"]]
