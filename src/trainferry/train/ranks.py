"""What the ranks of a run do together beside their gradients: agree on how it stands."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from trainferry.devices.collectives import Group
from trainferry.errors import LaunchError, RecipeError, TrainingError
from trainferry.train.checkpoint import Checkpoint
from trainferry.train.recipe.read import recipe_to_toml
from trainferry.train.recipe.sections import Recipe
from trainferry.train.run import Run

_PARTS = ("weights", "training", "average")


def check_split(recipe: Recipe, ranks: int) -> None:
    """Raise RecipeError unless every rank can have an equal share of every part of a batch."""
    batch, parts = recipe.loop.batch, recipe.optimizer.accumulation
    unit = ranks * parts
    if batch % unit == 0:
        return
    below, above = batch // unit * unit, (batch // unit + 1) * unit
    batches = f"{below} or {above}" if below else str(above)
    per_part = batch // parts
    fitting = [count for count in range(1, per_part + 1) if per_part % count == 0]
    fewer = [count for count in fitting if count < ranks][-2:]
    more = [count for count in fitting if count > ranks][:1]
    accumulated = f" in {parts} parts each" if parts > 1 else ""
    raise RecipeError(
        f"a batch of {batch} cannot be divided among {ranks} ranks{accumulated}",
        hint=f"set loop.batch to {batches}, or start {_either(fewer + more)} ranks",
    )


def check_same_run(run: Run) -> None:
    """Raise LaunchError where a rank was given another recipe or other data."""
    recipe = hashlib.sha256(recipe_to_toml(run.recipe).encode()).hexdigest()
    validation = None if run.validation is None else len(run.validation)
    facts = [recipe, len(run.source), validation]
    every = run.group.gather(facts)
    for rank, theirs in enumerate(every):
        for what, one, other in zip(_COMPARED, every[0], theirs, strict=True):
            if one != other:
                shown = "" if what == "recipe" else f": {other} there, {one} here"
                raise LaunchError(
                    f"rank {rank} has another {what} than rank 0{shown}",
                    hint="give every rank the same command and the same data",
                )


_COMPARED = ("recipe", "number of training samples", "number of validation samples")


def share_checkpoint(group: Group, find: Callable[[], Checkpoint | None]) -> Checkpoint | None:
    """Return the checkpoint that rank 0 finds: only it needs the folder of the run."""
    if group.is_alone:
        return find()
    found: list[Checkpoint | None] = []

    def look() -> dict[str, Any] | None:
        found.append(find())
        return None if found[0] is None else _outline(found[0])

    outline = group.ask_first(look)
    if outline is None:
        return None
    if group.is_first:
        checkpoint = found[0]
        assert checkpoint is not None
    else:
        checkpoint = _hollow(outline)
    for part in _PARTS:
        group.send_from_first((getattr(checkpoint, part) or {}).values())
    return checkpoint


def share_weights(run: Run) -> None:
    """Start all ranks from the weights of rank 0."""
    run.group.send_from_first(run.network.state_dict().values())
    if run.average is not None:
        run.group.send_from_first(run.average.values.values())


def share_statistics(run: Run) -> None:
    """Give all ranks the statistics of rank 0, which are those that a checkpoint keeps.

    Weights are the same everywhere; statistics of local norms are of each rank's own samples.
    """
    statistics = dict(run.network.named_buffers())
    run.group.send_from_first(statistics.values())
    if run.average is not None:
        averages = run.average.values.items()
        run.group.send_from_first(value for name, value in averages if name in statistics)


def check_same_weights(run: Run) -> None:
    """Raise TrainingError where ranks have parted, bit by bit; they would never meet again."""
    if run.group.is_alone:
        return
    sums = [checksum(weight) for weight in run.network.parameters()]
    digest = hashlib.sha256(repr([int(each) for each in sums]).encode()).hexdigest()
    digests = run.group.gather(digest)
    others = [str(rank) for rank, each in enumerate(digests) if each != digests[0]]
    if others:
        raise TrainingError(
            f"at step {run.step} the weights of rank {', '.join(others)} are not those of rank 0",
            hint="all ranks need the same kind of device and the same versions; the same command "
            "goes on from the last checkpoint",
        )


def sum_of(group: Group, value: float) -> float:
    """Return the sum of a number over all ranks, in double precision."""
    if group.is_alone:
        return value
    own = torch.tensor(value, dtype=torch.float64)
    group.sum(own)
    return float(own)


def checksum(weight: Tensor) -> Tensor:
    """A sum of the bits as whole numbers: no order of adding can change it."""
    return weight.detach().flatten().view(torch.int32).sum(dtype=torch.int64)


def _outline(checkpoint: Checkpoint) -> dict[str, Any]:
    parts = {part: getattr(checkpoint, part) for part in _PARTS}
    shapes = {
        part: {
            name: [str(value.dtype).removeprefix("torch."), list(value.shape)]
            for name, value in tensors.items()
        }
        for part, tensors in parts.items()
        if tensors is not None
    }
    return {"step": checkpoint.step, "facts": dict(checkpoint.facts), "shapes": shapes}


def _hollow(outline: dict[str, Any]) -> Checkpoint:
    """A checkpoint of the same shapes, to be filled."""
    tensors = {
        part: {
            name: torch.empty(shape, dtype=getattr(torch, kind))
            for name, (kind, shape) in shapes.items()
        }
        for part, shapes in outline["shapes"].items()
    }
    return Checkpoint(outline["step"], facts=outline["facts"], **tensors)


def _either(counts: list[int]) -> str:
    *some, last = map(str, counts)
    return f"{', '.join(some)} or {last}" if some else last
