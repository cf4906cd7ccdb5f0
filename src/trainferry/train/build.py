"""From a recipe to a run: the only file that knows all parts."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from trainferry.devices.device import channels_last_helps, prepare, seed_device
from trainferry.devices.loss_scale import LossScale, LossScaleOptions
from trainferry.devices.precision import check_precision
from trainferry.errors import CheckpointError, DataError, RecipeError, RecordError
from trainferry.train.averaging import WeightAverage
from trainferry.train.checkpoint import find_checkpoint, load_weights, read_facts
from trainferry.train.data.alphabet import Alphabet, read_alphabet
from trainferry.train.data.batches import WordSource
from trainferry.train.data.check import WordCheck, check_words, require_enough
from trainferry.train.data.tfrecord import find_records, has_records
from trainferry.train.data.whole_file import write_whole
from trainferry.train.data.word_records import WordRecords
from trainferry.train.networks.crnn import CRNN, columns_of
from trainferry.train.optimizer import build_optimizer
from trainferry.train.recipe import read_recipe, recipe_differences, recipe_to_toml
from trainferry.train.recipe_sections import Recipe
from trainferry.train.run import Run
from trainferry.train.score import PROTOCOLS, Protocol
from trainferry.train.tasks.recognise import Recognise

MAY_CHANGE = {
    "loop.log_every",
    "loop.evaluate_every",
    "loop.save_every",
    "loop.keep",
    "loop.patience",
    "data.workers",
    "data.minimum_kept",
}


@dataclass(frozen=True)
class OpenRun:
    """A trained network, ready to be scored, asked or exported."""

    folder: Path
    recipe: Recipe
    device: torch.device
    network: nn.Module
    task: Recognise
    step: int

    @property
    def alphabet(self) -> Alphabet:
        return self.task.alphabet


def build_run(
    recipe: Recipe,
    data: Path,
    folder: Path,
    device: torch.device,
    say: Callable[[str], None],
) -> Run:
    """Make the run, or take up the one that is in its folder, ready for its first step."""
    recipe = with_alphabet(recipe, data)
    check_folder(folder, recipe)
    check_precision(device, recipe.precision.name)
    prepare(device, recipe.precision.name)
    workers = count_workers(recipe)
    source, check = training_source(recipe, data, workers)
    say(check.summary())
    if recipe.schedule.warmup_steps >= recipe.schedule.steps:
        say("the warm-up is as long as the run: the learning rate never reaches its peak")
    require_enough(check, recipe.data.minimum_kept)
    validation = _validation_source(recipe, data)
    if validation is None:
        say(f"no `val*` records in `{data}`: training without evaluation")
    network = build_network(recipe, device)
    open_folder(folder, recipe)
    return Run(
        folder=folder,
        recipe=recipe,
        device=device,
        network=network,
        task=build_task(recipe),
        optimizer=build_optimizer(recipe.optimizer, network, device),
        scale=LossScale(
            LossScaleOptions(recipe.precision.loss_scale, recipe.precision.initial_scale)
        ),
        average=WeightAverage(network, recipe.loop.average) if recipe.loop.average else None,
        source=source,
        validation=validation,
        workers=workers,
    )


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
    sizes = recipe.network
    network: nn.Module = CRNN(
        len(recipe.task.alphabet) + 1,
        channels=sizes.channels,
        hidden=sizes.hidden,
        layers=sizes.layers,
        dropout=sizes.dropout,
        norm_decay=sizes.norm_decay,
        identical_kernels=sizes.identical_kernels,
    ).to(device)
    if channels_last_helps(device):
        network = network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # missing in its annotations
    return network


def build_task(recipe: Recipe, protocol: str = "exact") -> Recognise:
    return Recognise(
        Alphabet(recipe.task.alphabet),
        recipe.task.max_length,
        merge_repeated=recipe.task.merge_repeated,
        protocol=protocol,
    )


def training_source(recipe: Recipe, data: Path, workers: int) -> tuple[WordSource, WordCheck]:
    """Return the samples that can be trained on, and the account of those that cannot."""
    records = open_words(recipe, find_records(data, "train"))
    check = check_words(
        records,
        columns=columns_of(recipe.picture.width),
        max_length=recipe.task.max_length,
        pictures=False,
        processes=workers + 1,
    )
    alphabet = Alphabet(recipe.task.alphabet)
    return WordSource(records, alphabet, check.kept, recipe.task.max_length), check


def evaluation_source(recipe: Recipe, data: Path, split: str, protocol: Protocol) -> WordSource:
    """Return the samples of a split that the protocol counts, whether they can be read or not."""
    records = open_words(recipe, find_records(data, split))
    texts = [_text_or_damage(records, number) for number in range(len(records))]
    kept = [number for number, text in enumerate(texts) if text is None or protocol.counts(text)]
    if all(texts[number] is None for number in kept):
        raise DataError(
            f"the protocol `{protocol.name}` counts none of the {len(records)} samples",
            hint=protocol.rule,
        )
    longest = max(len(texts[number] or "") for number in kept)
    return WordSource(records, Alphabet(recipe.task.alphabet), np.array(kept), max(longest, 1))


def open_words(recipe: Recipe, paths: Sequence[Path]) -> WordRecords:
    picture = recipe.picture
    return WordRecords(
        paths,
        Alphabet(recipe.task.alphabet),
        case=recipe.task.case,
        height=picture.height,
        width=picture.width,
        filter=picture.filter,
        order=picture.order,
    )


def saved_recipe(folder: Path, overrides: Sequence[str] = ()) -> Recipe:
    """Return the recipe in force in a run, with some values changed if asked."""
    path = folder / "recipe.toml"
    if not path.is_file():
        raise CheckpointError(
            f"`{folder}` is no run: it has no recipe.toml",
            hint="give the folder that was passed to `trainferry train --run`",
        )
    return read_recipe(path, overrides)


def open_folder(folder: Path, recipe: Recipe) -> None:
    """Make the run's folder, or check that the run in it is of this recipe."""
    check_folder(folder, recipe)
    path = folder / "recipe.toml"
    if not path.is_file():
        write_whole(path, recipe_to_toml(recipe).encode())


def check_folder(folder: Path, recipe: Recipe) -> None:
    """Raise RecipeError unless the folder is free or holds a run of this recipe."""
    if (folder / "recipe.toml").is_file():
        differences = {
            key: values
            for key, values in recipe_differences(saved_recipe(folder), recipe).items()
            if key not in MAY_CHANGE
        }
        if differences:
            shown = "; ".join(
                f"{key} was {was!r}, is {now!r}" for key, (was, now) in differences.items()
            )
            raise RecipeError(
                f"`{folder}` holds a run of another recipe: {shown}",
                hint="give another --run folder, or the recipe and --set values it was made with",
            )
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RecipeError(
            f"`{folder}` is not empty and holds no run",
            hint="give a new folder: nothing there is overwritten",
        )


def with_alphabet(recipe: Recipe, data: Path) -> Recipe:
    """Put the characters of the data into the recipe, where the recipe leaves them open."""
    if recipe.task.alphabet_from == "recipe":
        return recipe
    characters = read_alphabet(data).characters
    task = dataclasses.replace(recipe.task, alphabet=characters, alphabet_from="recipe")
    return dataclasses.replace(recipe, task=task)


def count_workers(recipe: Recipe) -> int:
    """Return how many processes read data: as the recipe says, or all cores but one."""
    if recipe.data.workers >= 0:
        return recipe.data.workers
    return max(len(os.sched_getaffinity(0)) - 1, 0)


def _text_or_damage(records: WordRecords, number: int) -> str | None:
    """Return the label, or None: a damaged record stays in the set, to be counted as such."""
    try:
        return records.text(number)
    except RecordError:
        return None


def _validation_source(recipe: Recipe, data: Path) -> WordSource | None:
    if not has_records(data, "val"):
        return None
    return evaluation_source(recipe, data, "val", PROTOCOLS["exact"])
