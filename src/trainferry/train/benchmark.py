"""How fast a recipe trains here: the real training step on made-up data."""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import cycle, islice
from typing import Any

import numpy as np
import torch

from trainferry.devices.device import (
    describe_device,
    peak_memory_bytes,
    pinned_memory_helps,
    synchronize,
)
from trainferry.errors import UsageError
from trainferry.train.build import synthetic_run
from trainferry.train.data.batches import Batch, stream_places
from trainferry.train.recipe.sections import Recipe
from trainferry.train.run import Run
from trainferry.train.step import train_step

WARM_UP = 5
ROUNDS = 10
_DIFFERENT_BATCHES = 4


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
    run, note = synthetic_run(recipe, device, samples=_DIFFERENT_BATCHES * recipe.loop.batch)
    run.network.train()
    batches = cycle(synthetic_batches(run, pinned=pinned_memory_helps(device)))
    for batch in islice(batches, WARM_UP):
        train_step(run, batch)
    seconds = statistics.median(_rounds(run, batches, steps))
    memory = peak_memory_bytes(device)
    run.settle()
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


def synthetic_batches(run: Run, *, pinned: bool) -> list[Batch]:
    """Take a few batches of made-up samples, ready to be sent to the device."""
    size, seed = run.recipe.loop.batch, run.recipe.loop.seed
    places = [stream_places(size, number) for number in range(_DIFFERENT_BATCHES)]
    batches = [run.source.training_batch(each, each, seed) for each in places]
    return [batch.pin_memory() for batch in batches] if pinned else batches


def _rounds(run: Run, batches: Iterator[Batch], steps: int) -> Iterator[float]:
    """Yield the seconds per step of each round; only its end waits for the device."""
    for part in np.array_split(np.arange(steps), min(ROUNDS, steps)):
        synchronize(run.device)
        started = time.perf_counter()
        for batch in islice(batches, len(part)):
            train_step(run, batch)
        synchronize(run.device)
        yield (time.perf_counter() - started) / len(part)


def _process_memory_bytes() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
