"""How fast a recipe trains here: the real training step on made-up data."""

from __future__ import annotations

import dataclasses
import resource
import statistics
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import torch

from trainferry.devices.device import (
    describe_device,
    peak_memory_bytes,
    pinned_memory_helps,
    prepare,
    synchronize,
)
from trainferry.devices.loss_scale import LossScale, LossScaleOptions
from trainferry.devices.precision import check_precision
from trainferry.errors import UsageError
from trainferry.train.averaging import WeightAverage
from trainferry.train.build import build_network, build_task, open_words
from trainferry.train.data.alphabet import Alphabet
from trainferry.train.data.batches import Batch, WordSource
from trainferry.train.loop import train_step
from trainferry.train.networks.crnn import columns_of
from trainferry.train.optimizer import build_optimizer
from trainferry.train.recipe_sections import Recipe
from trainferry.train.run import Run

WARM_UP = 5
ROUNDS = 10
_DIFFERENT_BATCHES = 4
_PLACEHOLDERS = "".join(map(chr, range(0x4E00, 0x4E00 + 5824)))


@dataclass(frozen=True)
class Speed:
    """What was measured; the rates are medians over rounds of steps."""

    recipe: str
    device: str
    precision: str
    batch: int
    steps: int
    warm_up_steps: int
    images_per_second: float
    milliseconds_per_step: float
    peak_memory_bytes: int
    memory_of: str  # "device", or "process" where the device does not count
    overflows: int
    note: str | None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def benchmark(recipe: Recipe, device: torch.device, steps: int) -> Speed:
    """Time `steps` steps after the warm-up: forward, loss, backward, clip, update, average."""
    if steps < 1:
        raise UsageError(f"cannot time {steps} steps", hint="pass --steps 100, for example")
    recipe, note = _with_placeholder_alphabet(recipe)
    check_precision(device, recipe.precision.name)
    prepare(device, recipe.precision.name)
    run = build_synthetic_run(recipe, device)
    batches = cycle(synthetic_batches(recipe, pinned=pinned_memory_helps(device)))
    for batch in islice(batches, WARM_UP):
        train_step(run, batch)
    seconds = statistics.median(_rounds(run, batches, steps))
    memory = peak_memory_bytes(device)
    return Speed(
        recipe=recipe.name,
        device=describe_device(device),
        precision=recipe.precision.name,
        batch=recipe.loop.batch,
        steps=steps,
        warm_up_steps=WARM_UP,
        images_per_second=recipe.loop.batch / seconds,
        milliseconds_per_step=1000 * seconds,
        peak_memory_bytes=_process_memory_bytes() if memory is None else memory,
        memory_of="process" if memory is None else "device",
        overflows=run.scale.overflows,
        note=note,
    )


def synthetic_batches(recipe: Recipe, *, pinned: bool) -> list[Batch]:
    """Make random pictures with random labels that fit into the columns."""
    dice = np.random.default_rng(recipe.loop.seed)
    return [_make_batch(recipe, dice, pinned) for _ in range(_DIFFERENT_BATCHES)]


def build_synthetic_run(recipe: Recipe, device: torch.device) -> Run:
    """Make a run as training does, but without data and without a folder."""
    network = build_network(recipe, device)
    network.train()
    precision = recipe.precision
    no_samples = WordSource(
        open_words(recipe, ()),
        Alphabet(recipe.task.alphabet),
        np.empty(0, np.int64),
        recipe.task.max_length,
    )
    return Run(
        folder=Path(),
        recipe=recipe,
        device=device,
        network=network,
        task=build_task(recipe),
        optimizer=build_optimizer(recipe.optimizer, network, device),
        scale=LossScale(LossScaleOptions(precision.loss_scale, precision.initial_scale)),
        average=WeightAverage(network, recipe.loop.average) if recipe.loop.average else None,
        source=no_samples,
        validation=None,
        workers=0,
    )


def _make_batch(recipe: Recipe, dice: np.random.Generator, pinned: bool) -> Batch:
    size, picture, task = recipe.loop.batch, recipe.picture, recipe.task
    blank = len(task.alphabet)
    # Half the columns is enough for a label that repeats one character.
    longest = max(1, min(task.max_length, columns_of(picture.width) // 2))
    lengths = dice.integers(1, longest + 1, size)
    labels = dice.integers(0, blank, (size, task.max_length))
    labels[np.arange(task.max_length) >= lengths[:, None]] = blank
    batch = Batch(
        images=torch.from_numpy(
            dice.integers(0, 256, (size, picture.height, picture.width, 3), np.uint8)
        ),
        labels=torch.from_numpy(labels),
        lengths=torch.from_numpy(lengths),
        valid=torch.ones(size, dtype=torch.bool),
        positions=torch.arange(size),
        skipped=torch.tensor(0),
    )
    return batch.pin_memory() if pinned else batch


def _rounds(run: Run, batches: Iterator[Batch], steps: int) -> Iterator[float]:
    """Yield the seconds per step of each round; only its end waits for the device."""
    for part in np.array_split(np.arange(steps), min(ROUNDS, steps)):
        synchronize(run.device)
        started = time.perf_counter()
        for batch in islice(batches, len(part)):
            train_step(run, batch)
        synchronize(run.device)
        yield (time.perf_counter() - started) / len(part)


def _with_placeholder_alphabet(recipe: Recipe) -> tuple[Recipe, str | None]:
    if recipe.task.alphabet_from == "recipe":
        return recipe, None
    task = dataclasses.replace(recipe.task, alphabet=_PLACEHOLDERS, alphabet_from="recipe")
    return dataclasses.replace(recipe, task=task), (
        f"the characters of `{recipe.name}` come with the data; timed with "
        f"{len(_PLACEHOLDERS)} placeholders from U+4E00 on"
    )


def _process_memory_bytes() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
