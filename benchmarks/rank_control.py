"""How far rounding alone takes a training apart: the limit for what ranks can have in common.

One process in fp32 trains again with first weights that are changed by one rounding (6e-8 of
themselves). And ranks train with the network in double precision, where rounding is small
enough to leave only what ranks do wrong. `ranks.py --control` runs it and shows the table.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
from rank_cases import Network, start_ranks

ROUNDING = 6e-8
RATES = ("low", "recipe")
NUDGES = ("nudged1", "nudged2", "nudged3")


def run_control(
    network: Network, counts: list[int], arguments: argparse.Namespace, folder: Path, data: Path
) -> dict[str, Any]:
    """Train as often as it takes; return how far each is from one process of its own kind."""
    report: dict[str, Any] = {"name": network.name}
    for rate in RATES:

        def train(kind: str, ranks: int, rate: str = rate) -> Path:
            out = folder / f"{network.name}-{rate}-{kind}-{ranks}"
            given = (network.name, rate, kind, str(data), str(out))
            size = (str(arguments.batch), str(arguments.steps), str(arguments.pixels))
            start_ranks(ranks, str(Path(__file__)), *given, *size)
            print(f"{network.name}, {rate} rate, {kind}, {ranks} ranks: done", file=sys.stderr)
            return out

        alone = {kind: train(kind, 1) for kind in ("fp32", "double")}
        report[rate] = {
            "nudged": [_apart(train(kind, 1), alone["fp32"]) for kind in NUDGES],
            "fp32": {n: _apart(train("fp32", n), alone["fp32"]) for n in counts if n > 1},
            "double": {n: _apart(train("double", n), alone["double"]) for n in counts if n > 1},
        }
    return report


def show_control(report: dict[str, Any], most: float) -> bool:
    """Print the table of a network; say whether ranks in double precision are near enough."""
    print(f"\n{report['name']}: largest difference of any loss from one process\n")
    print("| | low rate | the recipe's rate |\n|---|---:|---:|")
    nudged = ["1 process, fp32, first weights changed by 6e-8, three times"]
    nudged += [
        ", ".join(f"{each['loss']:.1e}" for each in report[rate]["nudged"]) for rate in RATES
    ]
    print(f"| {' | '.join(nudged)} |")
    for kind in ("fp32", "double"):
        for ranks in report["low"][kind]:
            losses = [f"{report[rate][kind][ranks]['loss']:.1e}" for rate in RATES]
            print(f"| {ranks} ranks, {kind} | {' | '.join(losses)} |")
    for ranks in report["low"]["double"]:
        weights = [f"{report[rate]['double'][ranks]['weights']:.1e}" for rate in RATES]
        print(f"| {ranks} ranks, double: last weights, all together | {' | '.join(weights)} |")
    return all(each["loss"] <= most for rate in RATES for each in report[rate]["double"].values())


def _apart(one: Path, other: Path) -> dict[str, float]:
    """Compare a run with another one, and remove what it left: it is large."""
    losses = [json.loads((each / "losses.json").read_text()) for each in (one, other)]
    pairs = zip(*losses, strict=True)
    with np.load(one / "weights.npz") as ours, np.load(other / "weights.npz") as theirs:
        parts = [np.linalg.norm(ours[name] - theirs[name]) for name in theirs]
        whole = [np.linalg.norm(theirs[name]) for name in theirs]
    shutil.rmtree(one)
    return {
        "loss": max(abs(a - b) / max(abs(b), 1.0) for a, b in pairs),
        "weights": float(np.linalg.norm(parts) / np.linalg.norm(whole)),
    }


def _train(name: str, rate: str, kind: str, data: Path, out: Path, sizes: list[int]) -> None:
    """Be one rank of a run; the first writes losses and last weights."""
    import torch
    from rank_cases import NETWORKS

    from trainferry.devices.joining import join
    from trainferry.devices.place import find_place
    from trainferry.train.build import build_run
    from trainferry.train.journal import Logged
    from trainferry.train.loop import train
    from trainferry.train.recipe.read import read_recipe

    network = next(each for each in NETWORKS if each.name == name)
    cpu = torch.device("cpu")
    losses: list[float] = []
    with join(find_place(), cpu) as group:
        recipe = read_recipe(network.recipe, network.sets(rate, *sizes))
        run = build_run(recipe, data, out / "run", cpu, lambda _: None, group)
        run.validation = None
        if kind == "double":
            _double(run)
        if kind.startswith("nudged"):
            torch.manual_seed(int(kind.removeprefix("nudged")))
            with torch.no_grad():
                for weight in run.network.parameters():
                    weight.mul_(1 + ROUNDING * torch.randn_like(weight))
        train(run, lambda event: losses.append(event.loss) if isinstance(event, Logged) else None)
    if group.is_first:
        (out / "losses.json").write_text(json.dumps(losses))
        weights = {name: value.detach().numpy() for name, value in run.network.named_parameters()}
        np.savez(out / "weights.npz", **weights)


def _double(run: Any) -> None:  # noqa: ANN401  # a Run, known when torch is there
    """Let the network compute in double precision; each sample's loss stays fp32."""
    from trainferry.train.averaging import WeightAverage

    run.network.double().register_forward_pre_hook(
        lambda _, inputs: (inputs[0].double(), *inputs[1:])
    )
    if run.average is not None:
        run.average = WeightAverage(run.network, run.average.decay)
    losses = run.task.losses
    object.__setattr__(run.task, "losses", lambda *given: losses(*given).double())


if __name__ == "__main__":
    _name, _rate, _kind, _data, _out, *_sizes = sys.argv[1:]
    _train(_name, _rate, _kind, Path(_data), Path(_out), [int(size) for size in _sizes])
