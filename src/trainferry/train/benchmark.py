"""How fast a recipe trains here: the real training step on made-up data."""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import cycle, islice
from typing import Any

import numpy as np
import torch

from trainferry.devices.device import (
    PeakMemory,
    describe_device,
    peak_memory,
    pinned_memory_helps,
    synchronize,
)
from trainferry.errors import UsageError
from trainferry.train.build import synthetic_run
from trainferry.train.data.batch import Batch
from trainferry.train.data.batches import stream_places
from trainferry.train.recipe.sections import Recipe
from trainferry.train.run import Run
from trainferry.train.step import train_step

WARM_UP = 5
ROUNDS, LEAST_STEPS = 10, 10  # of a round: in its first step, the device waits for the program
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
    peak_memory_bytes: int  # of tensors
    taken_memory_bytes: int  # from the device: of tensors, and kept for them
    memory_of: str  # "device", or "process" where the device does not count
    first_step_seconds: float  # building the network and whatever is compiled or recorded
    overflows: int
    note: str | None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def benchmark(recipe: Recipe, device: torch.device, steps: int) -> Speed:
    """Time `steps` steps after the warm-up: forward, loss, backward, clip, update, average."""
    if steps < 1:
        raise UsageError(f"cannot time {steps} steps", hint="pass --steps 100, for example")
    began = time.perf_counter()
    run, note = synthetic_run(recipe, device, samples=_DIFFERENT_BATCHES * recipe.loop.batch)
    run.network.train()
    batches = cycle(synthetic_batches(run, pinned=pinned_memory_helps(device)))
    train_step(run, next(batches))
    synchronize(device)
    first = time.perf_counter() - began
    for batch in islice(batches, WARM_UP - 1):
        train_step(run, batch)
    seconds = timed(lambda: train_step(run, next(batches)), device, steps)
    memory, memory_of = memory_used(device)
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
        peak_memory_bytes=memory.held_bytes,
        taken_memory_bytes=memory.taken_bytes,
        memory_of=memory_of,
        first_step_seconds=first,
        overflows=run.scale.overflows,
        note=note,
    )


def synthetic_batches(run: Run, *, pinned: bool) -> list[Batch]:
    """Take a few batches of made-up samples, ready to be sent to the device."""
    size, seed = run.recipe.loop.batch, run.recipe.loop.seed
    places = [stream_places(size, number) for number in range(_DIFFERENT_BATCHES)]
    batches = [run.source.training_batch(each, each, seed) for each in places]
    return [batch.pin_memory() for batch in batches] if pinned else batches


def timed(step: Callable[[], object], device: torch.device, steps: int) -> float:
    """Return the seconds of a step, the median over rounds; a round's end waits for the device."""
    return statistics.median(_rounds(step, device, steps))


def _rounds(step: Callable[[], object], device: torch.device, steps: int) -> Iterator[float]:
    rounds = min(ROUNDS, max(1, steps // LEAST_STEPS))
    for part in np.array_split(np.arange(steps), rounds):
        synchronize(device)
        started = time.perf_counter()
        for _ in part:
            step()
        synchronize(device)
        yield (time.perf_counter() - started) / len(part)


def memory_used(device: torch.device) -> tuple[PeakMemory, str]:
    """Return the most bytes that were used so far, and by what: the `device` or the `process`."""
    known = peak_memory(device)
    if known is not None:
        return known, "device"
    used = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return PeakMemory(used, used), "process"
