"""CRNN training on one device: images per second, and where the time of a step goes.

The speeds are those of `trainferry benchmark`: whole training steps on made-up data,
without waiting between them. The parts of a step are timed one by one, with a wait for
the device after each, so their sum is longer than a step. Operators and kernels are
counted by torch.profiler.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from itertools import cycle, islice
from pathlib import Path
from typing import Any, TypeVar

import torch

from trainferry.devices.device import (
    choose_device,
    describe_device,
    pinned_memory_helps,
    prepare,
    seed_device,
    synchronize,
)
from trainferry.devices.precision import autocast
from trainferry.train.benchmark import benchmark, synthetic_batches
from trainferry.train.build import synthetic_run
from trainferry.train.data.batch import Batch
from trainferry.train.recipe.read import read_recipe
from trainferry.train.recipe.sections import Recipe
from trainferry.train.run import Run
from trainferry.train.step import train_step

PARTS = ("start", "forward", "loss", "backward", "update")
PROFILED_STEPS = 3
MOST_SHOWN = 8

Result = TypeVar("Result")


@dataclass(frozen=True)
class Case:
    """One row of the table."""

    batch: int
    precision: str


@dataclass(frozen=True)
class Operators:
    """What one step asks of the device."""

    operators: int  # calls of aten operators on the host
    kernels: int  # pieces of work on an accelerator; 0 on the CPU
    kernel_milliseconds: float
    slowest: dict[str, float]  # milliseconds per step, on the accelerator where there is one
    most_called: dict[str, int]


@dataclass(frozen=True)
class CaseResult:
    """Images per second over the rounds, and what a step consists of."""

    batch: int
    precision: str
    images_per_second: float
    lowest: float
    highest: float
    milliseconds_per_step: float
    milliseconds_of_parts: dict[str, float]
    operators: Operators


def main() -> int:
    arguments = _parse_arguments()
    device = choose_device(arguments.device)
    print(describe_device(device), file=sys.stderr)
    cases = [Case(batch, name) for name in arguments.precisions for batch in arguments.batches]
    results = [*measure(arguments, cases, device)]
    report = {
        "date": date.today().isoformat(),
        "device": describe_device(device),
        "python": platform.python_version(),
        "recipe": arguments.recipe,
        "steps": arguments.steps,
        "rounds": arguments.rounds,
        "cases": [asdict(result) for result in results],
    }
    print(as_text(report))
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 0


def measure(
    arguments: argparse.Namespace, cases: Sequence[Case], device: torch.device
) -> Iterator[CaseResult]:
    """Time all cases in turns, round after round, then take each of them apart."""
    speeds: dict[Case, list[float]] = {case: [] for case in cases}
    for number in range(arguments.rounds):
        for case in cases:
            speed = benchmark(_recipe(arguments, case), device, arguments.steps)
            speeds[case].append(speed.images_per_second)
            print(
                f"round {number + 1} of {arguments.rounds}: {case.precision}, batch {case.batch}: "
                f"{speed.images_per_second:,.0f} images/s",
                file=sys.stderr,
                flush=True,
            )
    for case in cases:
        recipe = _recipe(arguments, case)
        prepare(device, recipe.precision.name)
        run, _ = synthetic_run(recipe, device, samples=4 * recipe.loop.batch)
        run.network.train()
        batches = synthetic_batches(run, pinned=pinned_memory_helps(device))
        median = statistics.median(speeds[case])
        yield CaseResult(
            batch=case.batch,
            precision=case.precision,
            images_per_second=median,
            lowest=min(speeds[case]),
            highest=max(speeds[case]),
            milliseconds_per_step=1000 * case.batch / median,
            milliseconds_of_parts=time_parts(run, batches, arguments.steps),
            operators=count_operators(run, batches),
        )


def time_parts(run: Run, batches: Sequence[Batch], steps: int) -> dict[str, float]:
    """Return the median milliseconds of each part of a step, waiting after each."""
    seconds: dict[str, list[float]] = {part: [] for part in PARTS}

    def timed(part: str, work: Callable[[], Result]) -> Result:
        synchronize(run.device)
        started = time.perf_counter()
        result = work()
        synchronize(run.device)
        seconds[part].append(time.perf_counter() - started)
        return result

    for batch in islice(cycle(batches), 2 + steps):
        _step_in_parts(run, batch, timed)
    return {part: 1000 * statistics.median(values[2:]) for part, values in seconds.items()}


def count_operators(run: Run, batches: Sequence[Batch]) -> Operators:
    """Profile a few whole steps, as the loop does them."""
    train_step(run, batches[0])
    synchronize(run.device)
    activities = torch.profiler.supported_activities()  # type: ignore[no-untyped-call]  # torch's
    with torch.profiler.profile(activities=activities) as profile:
        for batch in islice(cycle(batches), PROFILED_STEPS):
            train_step(run, batch)
        synchronize(run.device)
    averages = [each for each in profile.key_averages() if not each.is_user_annotation]
    kernels = [each for each in averages if each.device_type.name != "CPU"]
    operators = [each for each in averages if each.key.startswith("aten::")]
    seconds = {each.key: each.self_device_time_total for each in kernels} or {
        each.key: each.self_cpu_time_total for each in operators
    }
    calls = {each.key: each.count // PROFILED_STEPS for each in operators}
    return Operators(
        operators=sum(each.count for each in operators) // PROFILED_STEPS,
        kernels=sum(each.count for each in kernels) // PROFILED_STEPS,
        kernel_milliseconds=_per_step(sum(each.self_device_time_total for each in kernels)),
        slowest={name: _per_step(value) for name, value in _largest(seconds)},
        most_called=dict(_largest(calls)),
    )


def as_text(report: dict[str, Any]) -> str:
    """Return two tables, readable as they are and as Markdown."""
    lines = [
        f"{report['date']}, {report['device']}, Python {report['python']}",
        f"recipe {report['recipe']}, {report['rounds']} rounds of {report['steps']} steps",
        "",
        "| precision | batch | images/s | spread | ms per step |",
        "|---|---:|---:|---:|---:|",
    ]
    for case in report["cases"]:
        lines.append(  # noqa: PERF401 - a comprehension of this would be harder to read
            f"| {case['precision']} | {case['batch']} | {case['images_per_second']:,.0f} "
            f"| {case['lowest']:,.0f} to {case['highest']:,.0f} "
            f"| {case['milliseconds_per_step']:.2f} |"
        )
    lines += [
        "",
        "Milliseconds of the parts, each waited for; then per step: operators on the host, "
        "kernels on the device, and how long the kernels run.",
        "",
        f"| precision | batch | {' | '.join(PARTS)} | operators | kernels | kernels ms |",
        f"|---|---:|{'---:|' * (len(PARTS) + 3)}",
    ]
    for case in report["cases"]:
        parts = " | ".join(f"{case['milliseconds_of_parts'][part]:.2f}" for part in PARTS)
        counts = case["operators"]
        lines.append(
            f"| {case['precision']} | {case['batch']} | {parts} | {counts['operators']} "
            f"| {counts['kernels']} | {counts['kernel_milliseconds']:.2f} |"
        )
    for case in report["cases"]:
        counts = case["operators"]
        lines += [
            "",
            f"{case['precision']}, batch {case['batch']}, milliseconds per step: "
            + ", ".join(f"`{name[:60]}` {value:.2f}" for name, value in counts["slowest"].items()),
            "calls per step: "
            + ", ".join(f"`{name}` {count}" for name, count in counts["most_called"].items()),
        ]
    return "\n".join(lines)


def _step_in_parts(run: Run, batch: Batch, timed: Callable[[str, Callable[[], Any]], Any]) -> None:
    """Do what `train_step` does, without accumulation and loss scaling."""
    recipe = run.recipe
    run.optimizer.zero_grad(set_to_none=True)

    def start() -> Batch:
        seed_device(run.step, run.device)
        return batch.to(run.device)

    def forward() -> torch.Tensor:
        with autocast(run.device, recipe.precision.name):
            images, _ = run.task.vary(there)
            logits: torch.Tensor = run.network(images)
            return logits

    def update() -> None:
        if recipe.optimizer.clip_norm:
            torch.nn.utils.clip_grad_norm_(run.network.parameters(), recipe.optimizer.clip_norm)
        run.optimizer.step()
        run.step += 1
        if run.average is not None:
            run.average.update(run.step)

    there = timed("start", start)
    logits = timed("forward", forward)
    loss = timed("loss", lambda: run.task.losses(logits, there).mean())
    timed("backward", loss.backward)
    timed("update", update)


def _recipe(arguments: argparse.Namespace, case: Case) -> Recipe:
    overrides = [
        f"loop.batch={case.batch}",
        f"precision.name={case.precision}",
        "precision.loss_scale=none",
    ]
    return read_recipe(arguments.recipe, [*overrides, *arguments.set])


def _per_step(microseconds: float) -> float:
    return microseconds / 1000 / PROFILED_STEPS


def _largest(values: dict[str, Any]) -> list[tuple[str, Any]]:
    return sorted(values.items(), key=lambda item: -item[1])[:MOST_SHOWN]


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or npu")
    parser.add_argument("--recipe", default="crnn", help="name of a recipe or a .toml file")
    parser.add_argument("--batches", type=int, nargs="+", default=[64, 512, 1024], metavar="N")
    parser.add_argument(
        "--precisions", nargs="+", choices=("fp32", "bf16"), default=["fp32", "bf16"]
    )
    parser.add_argument("--steps", type=int, default=30, metavar="N", help="steps to time")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override a recipe value"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
