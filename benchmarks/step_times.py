"""Where does a training step from record files lose time against one on made-up data?

    python benchmarks/step_times.py attention_ocr_signs --data FOLDER --steps 200

Trains the recipe twice, on made-up batches that lie ready and from record files, as `trainferry
train` does, and prints milliseconds a step: by the clock; of the program, by what it does; and of
the device, between the ends of two steps and for the copy of a batch. A program that mostly waits
for the device is fast enough. Where a copy takes as long as a step, memory is what is slow; where
the device takes longer for the same work, something disturbs it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import cycle, pairwise
from pathlib import Path
from typing import Any

import torch

from trainferry.devices.capture import Recorded
from trainferry.devices.device import (
    choose_device,
    describe_device,
    pinned_memory_helps,
    synchronize,
)
from trainferry.train import sender, step, whole_step
from trainferry.train.benchmark import synthetic_batches
from trainferry.train.build import build_run, synthetic_run
from trainferry.train.data.batches import Batch
from trainferry.train.recipe.read import read_recipe
from trainferry.train.run import Run

WARM_UP = 20
# What the program does in a step, each part less what it calls of the others.
PARTS: dict[str, tuple[Any, str]] = {
    "send": (sender.Sender, "__call__"),
    "whole step": (whole_step.WholeStep, "__call__"),
    "put batch in place": (whole_step.WholeStep, "_place"),
    "replay": (Recorded, "__call__"),
    "seed": (step, "seed_device"),
}


class Clock:
    """Adds up the time of parts that may lie inside each other."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._inner = [0.0]

    def timed(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def work_by_the_clock(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401
            began = time.perf_counter()
            self._inner.append(0.0)
            try:
                return work(*arguments, **options)
            finally:
                whole = time.perf_counter() - began
                self.seconds[name] += whole - self._inner.pop()
                self._inner[-1] += whole

        return work_by_the_clock


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("recipe")
    parser.add_argument("--data", type=Path, required=True, help="record files to train on")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--set", action="append", default=[], help="override a recipe value")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    arguments = parser.parse_args()
    device = choose_device(arguments.device)
    recipe = read_recipe(arguments.recipe, arguments.set)
    clock = Clock()
    for name, (owner, method) in PARTS.items():
        setattr(owner, method, clock.timed(name, getattr(owner, method)))
    made_up, _ = synthetic_run(recipe, device, samples=4 * recipe.loop.batch)
    ready = cycle(synthetic_batches(made_up, pinned=pinned_memory_helps(device)))
    found = {"made up": measure(made_up, ready, clock, arguments.steps)}
    with tempfile.TemporaryDirectory() as folder:
        run = build_run(recipe, arguments.data, Path(folder) / "run", device, say=tell)
        found["from records"] = measure(run, run.training_batches(), clock, arguments.steps)
    print(describe_device(device))
    show(found)
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return 0


def measure(run: Run, batches: Iterator[Batch], clock: Clock, steps: int) -> dict[str, float]:
    """Return milliseconds a step, after steps to warm up."""
    run.network.train()
    following = clock.timed("wait for data", lambda: next(batches))
    train = clock.timed("the rest", step.train_step)
    task = type(run.task)
    vary = task.vary
    task.vary = clock.timed("vary", vary)  # type: ignore[method-assign]  # put back below
    for _ in range(WARM_UP):
        train(run, following())
    synchronize(run.device)
    clock.seconds.clear()
    copies: list[tuple[Any, Any]] = []
    send = Batch.to
    Batch.to = _marked(send, copies)  # type: ignore[method-assign]  # put back below
    marks = [_mark(run.device)]
    began = time.perf_counter()
    for _ in range(steps):
        train(run, following())
        marks.append(_mark(run.device))
    synchronize(run.device)
    seconds = time.perf_counter() - began
    task.vary = vary  # type: ignore[method-assign]
    Batch.to = send  # type: ignore[method-assign]
    run.settle()
    times = {name: 1000 * value / steps for name, value in clock.seconds.items()}
    return {"by the clock": 1000 * seconds / steps, **_of_device(marks, copies), **times}


def _marked(
    send: Callable[[Batch, torch.device], Batch], copies: list[tuple[Any, Any]]
) -> Callable[[Batch, torch.device], Batch]:
    """Note when the device begins and ends to copy a batch, on the stream that copies."""

    def send_marked(batch: Batch, device: torch.device) -> Batch:
        began = _mark(device)
        sent = send(batch, device)
        copies.append((began, _mark(device)))
        return sent

    return send_marked


def _mark(device: torch.device) -> Any:  # noqa: ANN401  # of any backend
    if device.type == "cpu":
        return None
    mark = torch.get_device_module(device).Event(enable_timing=True)
    mark.record()
    return mark


def _of_device(marks: list[Any], copies: list[tuple[Any, Any]]) -> dict[str, float]:
    if marks[0] is None:
        return {}
    return {
        "device, a step": _median(pairwise(marks)),
        "device, copying a batch": _median(copies),
    }


def _median(marks: Iterable[tuple[Any, Any]]) -> float:
    return statistics.median(one.elapsed_time(other) for one, other in marks)


def show(found: dict[str, dict[str, float]]) -> None:
    print("| ms a step | made up | from records |\n|---|---:|---:|")
    for name in found["from records"]:
        cells = [f"{each.get(name, 0.0):.2f}" for each in found.values()]
        print(f"| {name} | {' | '.join(cells)} |")


def tell(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
