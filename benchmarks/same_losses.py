"""Do the fast paths learn the same? Losses of 200 steps with and without them, on one GPU.

    python benchmarks/same_losses.py --json losses.json

Five runs of each recipe in bf16 on the same made-up batches from the same weights: `plain`,
torch's own operators started one by one; `fast`, our kernels in a recorded whole step; and three
that are `nudged`, the plain one with first weights changed by 1e-3 of themselves, less than bf16
rounds. How far these four without our kernels lie from their own mean is noise; `fast` must not
lie farther from it than twice the farthest of them. Nothing is dropped out: kernels have their
numbers in another order of memory, and would drop others. Losses are written as they come; a run
that fails is told, its row left out, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from trainferry.train.benchmark import synthetic_batches
from trainferry.train.build import synthetic_run
from trainferry.train.recipe.read import read_recipe
from trainferry.train.step import train_step

# The longest first, so that they do not end alone.
CASES = ("hrnet_w18:32", "densenet121:32", "attention_ocr_signs:32", "resnet50:32", "crnn:64")
NUDGES = ("nudged 1", "nudged 2", "nudged 3")
MODES = ("plain", *NUDGES, "fast")
NUDGE = 1e-3
SETS = {"crnn": ["network.dropout=0"]}
WINDOW = 20

Job = tuple[str, str]  # case and mode


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--only", default=",".join(CASES), help="RECIPE:BATCH, separated by commas")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--set", action="append", default=[], help="for all runs")
    parser.add_argument("--together", type=int, default=6, help="runs at the same time")
    parser.add_argument("--json", type=Path, help="write all losses to this file")
    parser.add_argument("--mode", choices=MODES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.mode:
        print(json.dumps(losses(arguments)))
        return 0
    cases = arguments.only.split(",")
    found = train_all([(case, mode) for case in cases for mode in MODES], arguments)
    whole = [case for case in cases if all((case, mode) in found for mode in MODES)]
    show(whole, found)
    return 0 if whole == cases else 1


def train_all(jobs: list[Job], arguments: argparse.Namespace) -> dict[Job, list[float]]:
    """Train some at a time; whoever is done is written down at once."""
    found: dict[Job, list[float]] = {}
    with ThreadPoolExecutor(arguments.together) as pool:
        working = {pool.submit(train_apart, *job, arguments): job for job in jobs}
        for done in as_completed(working):
            case, mode = working[done]
            if isinstance(values := done.result(), str):
                print(f"{case}, {mode} failed:\n{values}", file=sys.stderr)
                continue
            print(f"{case}, {mode}: {values[0]:.4f} to {values[-1]:.4f}", file=sys.stderr)
            found[case, mode] = values
            if arguments.json:
                table = {f"{case} {mode}": values for (case, mode), values in found.items()}
                arguments.json.write_text(json.dumps(table), encoding="utf-8")
    return found


def train_apart(case: str, mode: str, arguments: argparse.Namespace) -> list[float] | str:
    """Train in a process of its own, as the switch for kernels is read once; or say what failed."""
    command = [sys.executable, __file__, "--only", case, "--mode", mode]
    command += ["--steps", str(arguments.steps), "--device", arguments.device]
    command += [word for each in arguments.set for word in ("--set", each)]
    environment = os.environ | ({} if mode == "fast" else {"TRAINFERRY_KERNELS": "off"})
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr[-3000:]
    values: list[float] = json.loads(done.stdout.splitlines()[-1])
    return values


def losses(arguments: argparse.Namespace) -> list[float]:
    name, _, batch = arguments.only.partition(":")
    fast = str(arguments.mode == "fast").lower()
    sets = [
        *("precision.name=bf16", "precision.loss_scale=none", f"loop.batch={batch}"),
        *(f"loop.captured={fast}", f"loop.whole_step={fast}", *SETS.get(name, []), *arguments.set),
    ]
    device = torch.device(arguments.device)
    trained, _ = synthetic_run(read_recipe(name, sets), device, samples=4 * int(batch))
    if arguments.mode in NUDGES:
        nudge(trained.network, seed=1 + NUDGES.index(arguments.mode))
    trained.network.train()
    batches = cycle(synthetic_batches(trained, pinned=False))
    found = [train_step(trained, each).loss for each in islice(batches, arguments.steps)]
    return [float(loss) for loss in found]


@torch.no_grad()
def nudge(network: torch.nn.Module, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    for weight in network.parameters():
        change = torch.randn(weight.shape, generator=generator)
        weight.mul_(1 + NUDGE * change.to(weight.device))


def show(cases: Sequence[str], found: dict[Job, list[float]]) -> None:
    print("| recipe, batch | first loss | last 20, without kernels | fast | noise | fast differs |")
    print("|---|---:|---:|---:|---:|---:|")
    for case in cases:
        *others, fast = (windows(found[case, mode]) for mode in MODES)
        mean = np.mean(others, axis=0)
        noise = max(largest(each, mean) for each in others)
        cells = [f"{found[case, 'plain'][0]:.3f}", f"{mean[-1]:.4f}", f"{fast[-1]:.4f}"]
        cells += [f"{each:.2%}" for each in (noise, largest(fast, mean))]
        print(f"| {case.replace(':', ', ')} | {' | '.join(cells)} |")


def windows(values: Sequence[float]) -> NDArray[np.float64]:
    """Means of 20 steps each; of fewer steps, one mean."""
    size = min(WINDOW, len(values))
    whole = np.array(values[: len(values) // size * size])
    means: NDArray[np.float64] = whole.reshape(-1, size).mean(1)
    return means


def largest(some: NDArray[np.float64], others: NDArray[np.float64]) -> float:
    """The largest difference of means of 20 steps, in parts of the first of them.

    Made-up batches are soon known by heart; parts of what is left then would be parts of nothing.
    """
    return float(np.abs(some - others).max() / abs(others[0]))


if __name__ == "__main__":
    sys.exit(main())
