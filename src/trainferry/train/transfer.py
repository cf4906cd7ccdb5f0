"""Weights of another run as the start of a new one: what fits is taken, the rest is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from torch import Tensor

from trainferry.errors import CheckpointError
from trainferry.train.averaging import WeightAverage
from trainferry.train.build import saved_recipe
from trainferry.train.checkpoint import load_weights
from trainferry.train.run import Run


@dataclass(frozen=True)
class Transfer:
    """Which weights another run gave, and which not, with the reason."""

    loaded: tuple[str, ...]
    left: tuple[tuple[str, str], ...]


def transfer_weights(run: Run, origin: Path, exclude: Sequence[str]) -> Transfer:
    """Load what fits by name and shape from another run; tell what does not, and why."""
    own = run.network.state_dict()
    loaded: dict[str, Tensor] = {}
    left: list[tuple[str, str]] = []
    other_classes = _alphabet_of(origin) not in (None, run.recipe.task.alphabet)
    for name, value in load_weights(origin).items():
        if name not in own:
            left.append((name, "the network has no such weight"))
        elif any(fnmatchcase(name, pattern) for pattern in exclude):
            left.append((name, "excluded"))
        elif own[name].shape != value.shape:
            shapes = f"{tuple(value.shape)} there, {tuple(own[name].shape)} here"
            left.append((name, f"its shape is {shapes}"))
        elif other_classes and name.startswith("classifier."):
            left.append((name, "its classes stand for other characters"))
        else:
            loaded[name] = value
    if not loaded:
        raise CheckpointError(
            f"nothing in `{origin}` fits the network `{run.recipe.network.name}`",
            hint="give a run, a checkpoint or a .safetensors file of the same network",
        )
    left += [
        (name, "not in the file") for name in own if name not in loaded and name not in dict(left)
    ]
    run.network.load_state_dict({**own, **loaded})
    if run.average is not None:
        run.average = WeightAverage(run.network, run.average.decay)
    return Transfer(tuple(loaded), tuple(left))


def _alphabet_of(origin: Path) -> str | None:
    """Return the characters of a run or checkpoint; a bare file of weights does not tell them."""
    folder = origin.parent.parent if (origin / "checkpoint.json").is_file() else origin
    return saved_recipe(folder).task.alphabet if (folder / "recipe.toml").is_file() else None
