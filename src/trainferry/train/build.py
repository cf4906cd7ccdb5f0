"""From a recipe to a run: the only file that knows all parts."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch
from torch import nn

from trainferry.counted import counted
from trainferry.devices.capture import capture_helps
from trainferry.devices.collectives import ALONE, Group
from trainferry.devices.device import (
    channels_last_helps,
    has_coarse_norms,
    leave_cores,
    prepare,
    seed_device,
)
from trainferry.devices.jpeg import check_decoder
from trainferry.devices.loss_scale import LossScale, LossScaleOptions
from trainferry.devices.precision import check_precision, warn_of_precision
from trainferry.errors import CheckpointError, RecipeError, UsageError
from trainferry.train import photos, signs, words
from trainferry.train.averaging import WeightAverage
from trainferry.train.checkpoint import find_checkpoint, load_weights, read_facts
from trainferry.train.data.batches import Source
from trainferry.train.gradients import GradientMean
from trainferry.train.norms import keep_norms_exact, synchronise_norms
from trainferry.train.optimizer import build_optimizer
from trainferry.train.ranks import check_same_run, check_split
from trainferry.train.recipe.sections import Recipe
from trainferry.train.recipe.tasks import ClassifyRecipe, RecogniseRecipe, SpellRecipe
from trainferry.train.run import Run
from trainferry.train.run_folder import check_folder, open_folder, saved_recipe
from trainferry.train.schedule import in_steps
from trainferry.train.tasks.task import Task

_READERS_EACH = 16  # processes for each core; many more only fill the memory


@dataclass(frozen=True)
class OpenRun:
    """A trained network, ready to be scored, asked or exported."""

    folder: Path
    recipe: Recipe
    device: torch.device
    network: nn.Module
    task: Task
    step: int


def build_run(
    recipe: Recipe,
    data: Path | None,
    folder: Path,
    device: torch.device,
    say: Callable[[str], None],
    group: Group = ALONE,
) -> Run:
    """Make the run, or take up the one that is in its folder, ready for its first step.

    Of several ranks, only the first touches the folder.
    """
    check_split(recipe, group.ranks)
    recipe = _on_device(recipe, data, device)
    if note := warn_of_precision(device, recipe.precision.name):
        say(note)
    source = _training_source(recipe, data, say, group)
    recipe = in_steps(recipe, len(source))
    group.ask_first(lambda: check_folder(folder, recipe, len(source)))
    if recipe.schedule.warmup_steps >= recipe.schedule.steps:
        say("the warm-up is as long as the run: the learning rate never reaches its peak")
    if recipe.loop.batch > len(source):
        say(
            f"a batch of {recipe.loop.batch:,} is larger than the data: each step sees some of the "
            f"{counted(len(source), 'sample')} twice or more"
        )
    validation = _validation_source(recipe, data, say)
    run = _assemble(recipe, folder, device, source, validation, group)
    check_same_run(run)
    group.ask_first(lambda: open_folder(folder, recipe, len(source)))
    return run


def open_run(
    folder: Path,
    *,
    device: torch.device,
    checkpoint: str = "best",
    overrides: Sequence[str] = (),
) -> OpenRun:
    """Open a trained run; with averaged weights if it has them."""
    path = folder if (folder / "checkpoint.json").is_file() else find_checkpoint(folder, checkpoint)
    recipe = saved_recipe(path.parent.parent, overrides)
    network = build_network(recipe, device)
    try:
        network.load_state_dict(load_weights(path))
    except RuntimeError as error:
        raise CheckpointError(
            f"`{path}` does not fit the network of its recipe: {error}",
            hint="the run folder was put together from two runs; use them as they were",
        ) from error
    if not all(bool(value.isfinite().all()) for value in network.state_dict().values()):
        raise CheckpointError(
            f"`{path}` holds weights that are not finite numbers",
            hint="take an earlier checkpoint; with these every answer would be meaningless",
        )
    network.eval()
    step = int(read_facts(path)["step"])
    return OpenRun(path.parent.parent, recipe, device, network, build_task(recipe), step)


def build_network(recipe: Recipe, device: torch.device) -> nn.Module:
    """Make the network with the weights that follow from the recipe's seed."""
    seed_device(recipe.loop.seed, torch.device("cpu"))
    network = _kind(recipe).build_network(recipe).to(device)
    if channels_last_helps(device):
        network = network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # missing in its annotations
    return network


def build_task(recipe: Recipe, protocol: str = "exact") -> Task:
    return _kind(recipe).build_task(recipe, protocol)


def evaluation_source(recipe: Recipe, data: Path, split: str, protocol: str = "exact") -> Source:
    """Return the samples of a split that are to be scored, whether they can be read or not."""
    return _kind(recipe).evaluation_source(recipe, data, split, protocol)


def synthetic_run(recipe: Recipe, device: torch.device, samples: int) -> tuple[Run, str | None]:
    """Make a run as training does, but without data and without a folder; and what to tell."""
    recipe, note = without_data(recipe)
    check_precision(device, recipe.precision.name)
    _prepare(recipe, device)
    source = _kind(recipe).synthetic_source(recipe, samples, _pool(recipe))
    return _assemble(in_steps(recipe, samples), Path(), device, source, None, ALONE), note


def trial_run(
    recipe: Recipe,
    data: Path | None,
    device: torch.device,
    say: Callable[[str], None],
    change: Callable[[Recipe], Recipe],
) -> Run:
    """Make a run of its data, but without a folder and an evaluation.

    `change` makes the recipe of the trial from that of the run, whose lengths are known by then.
    """
    recipe = _on_device(recipe, data, device)
    source = _training_source(recipe, data, say, ALONE)
    recipe = change(in_steps(recipe, len(source)))
    return _assemble(recipe, Path(), device, source, None, ALONE)


def without_data(recipe: Recipe) -> tuple[Recipe, str | None]:
    """Put stand-ins into the recipe for what it leaves to the data; and what to tell of them."""
    return _kind(recipe).complete_without_data(recipe)


def complete_recipe(recipe: Recipe, data: Path) -> Recipe:
    """Put into the recipe what it leaves to the data: characters or classes."""
    return _kind(recipe).complete(recipe, data)


def count_workers(recipe: Recipe, ranks_here: int = 1) -> int:
    """Return how many processes read data: as the recipe says, or all cores but one.

    Ranks of the same machine share its cores.
    """
    cores, workers = len(os.sched_getaffinity(0)), recipe.data.workers
    if workers > _READERS_EACH * cores:
        raise RecipeError(
            f"data.workers is {workers:,}, and this machine has {cores} cores: so many processes "
            "would fill its memory",
            hint="leave data.workers at -1, which means one process less than there are cores",
        )
    return workers if workers >= 0 else max(cores // ranks_here - 1, 0)


class _Kind(Protocol):
    """What words, photographs and signs have each in their own way."""

    def complete(self, recipe: Recipe, data: Path) -> Recipe: ...
    def complete_without_data(self, recipe: Recipe) -> tuple[Recipe, str | None]: ...
    def training_source(
        self, recipe: Recipe, data: Path, workers: int, say: Callable[[str], None]
    ) -> Source: ...
    def evaluation_source(
        self, recipe: Recipe, data: Path, split: str, protocol: str
    ) -> Source: ...
    def has_split(self, data: Path, split: str) -> bool: ...
    def synthetic_source(self, recipe: Recipe, samples: int, pool: int) -> Source: ...
    def build_network(self, recipe: Recipe) -> nn.Module: ...
    def build_task(self, recipe: Recipe, protocol: str) -> Task: ...


def _kind(recipe: Recipe) -> _Kind:
    return _KINDS[type(recipe.task)]


_KINDS: dict[type, _Kind] = {
    RecogniseRecipe: words,
    ClassifyRecipe: photos,
    SpellRecipe: signs,
}


def _assemble(
    recipe: Recipe,
    folder: Path,
    device: torch.device,
    source: Source,
    validation: Source | None,
    group: Group,
) -> Run:
    network = build_network(recipe, device)
    synchronised = recipe.loop.norms == "synchronised" and not group.is_alone
    if synchronised:
        synchronise_norms(network, group)
    elif has_coarse_norms(device):
        keep_norms_exact(network)
    precision, optimizer = recipe.precision, build_optimizer(recipe.optimizer, network, device)
    captures = (
        recipe.loop.captured
        and recipe.optimizer.accumulation == 1
        and not synchronised  # norms that wait for other ranks cannot be recorded
        and capture_helps(device)
    )
    return Run(
        folder=folder,
        recipe=recipe,
        device=device,
        network=network,
        task=build_task(recipe),
        optimizer=optimizer,
        scale=LossScale(LossScaleOptions(precision.loss_scale, precision.initial_scale)),
        average=WeightAverage(network, recipe.loop.average) if recipe.loop.average else None,
        source=source,
        validation=validation,
        workers=count_workers(recipe, group.place.local_ranks),
        captures=captures,
        group=group,
        # Replayed gradients come all at once: there is nothing to overlap with.
        gradients=None
        if group.is_alone
        else GradientMean(network, group, overlapping=not captures),
        unpack=photos.unpacker(recipe, device) if recipe.data.jpeg == "device" else None,
    )


def _on_device(recipe: Recipe, data: Path | None, device: torch.device) -> Recipe:
    """Complete the recipe, and let the device prepare for it or say that it cannot."""
    if recipe.data.synthetic:
        recipe, _ = without_data(recipe)
    else:
        recipe = complete_recipe(recipe, _given(data))
    check_precision(device, recipe.precision.name)
    if recipe.data.jpeg == "device":
        check_decoder(device)
    _prepare(recipe, device)
    return recipe


def _prepare(recipe: Recipe, device: torch.device) -> None:
    prepare(device, recipe.precision.name)
    leave_cores(device)


def _training_source(
    recipe: Recipe, data: Path | None, say: Callable[[str], None], group: Group
) -> Source:
    workers = count_workers(recipe, group.place.local_ranks)
    if recipe.data.synthetic:
        say(f"training on {recipe.data.synthetic:,} made-up samples")
        return _kind(recipe).synthetic_source(recipe, recipe.data.synthetic, _pool(recipe))
    return _kind(recipe).training_source(recipe, _given(data), workers, say)


def _validation_source(
    recipe: Recipe, data: Path | None, say: Callable[[str], None]
) -> Source | None:
    if recipe.data.synthetic:
        return None
    if not _kind(recipe).has_split(_given(data), "val"):
        say(f"no `val*` records in `{data}`: training without evaluation")
        return None
    return evaluation_source(recipe, _given(data), "val")


def _given(data: Path | None) -> Path:
    if data is None:
        raise UsageError(
            "there is no data to train on",
            hint="pass --data FOLDER, or --set data.synthetic=10000 for made-up samples",
        )
    return data


def _pool(recipe: Recipe) -> int:
    """A few batches of made-up samples are enough; more would only take memory."""
    return 4 * recipe.loop.batch
