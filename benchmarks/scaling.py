"""Step times of 1 to 8 processes: what the model of `scaling_model.py` says, and what is.

First what the model needs: seconds of one process alone with each share of the batch, seconds of
two that do not talk, gloo's sums of several sizes between two, and of one network how far apart
two come to its synchronised norms. From these it predicts sums and training steps of every
number of processes, which are then measured. All of them share the cores of this machine.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rank_cases import NETWORKS, start_ranks
from scaling_model import Cluster, Link, Network, predict

SIZES = (4 * 2**10, 2**16, 2**20, 2**23, 2**25)
NORMS = ("local", "synchronised")
PIXELS = 96
_NOWHERE = Link(1.0, 0.0)


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--ranks", default="1,2,3,4,8")
    parser.add_argument("--batch", type=int, default=24, help="pictures of all ranks together")
    parser.add_argument("--steps", type=int, default=5, help="of each measurement, behind two more")
    parser.add_argument("--rounds", type=int, default=3, help="the fastest one counts")
    parser.add_argument(
        "--clock",
        choices=("wall", "cpu"),
        default="wall",
        help="cpu: the processor time of all ranks, divided by cores, where others use the machine",
    )
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    parser.add_argument("--again", type=Path, help="measure nothing: report of what --json wrote")
    parser.add_argument("--worker", nargs=2, metavar=("KIND", "RANKS"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        return _work(arguments)
    counts = [int(count) for count in arguments.ranks.split(",")]
    several = [count for count in counts if count > 1]
    best: dict[str, float] = {}
    if arguments.again:
        best = json.loads(arguments.again.read_text())["measured"]
    for number in range(0 if arguments.again else arguments.rounds):
        _keep(best, _ask("alone", 1, arguments))
        _keep(best, _ask("crowded", 2, arguments))
        for ranks in several:
            _keep(best, _ask("together", ranks, arguments))
        print(f"round {number + 1}: done", file=sys.stderr)
    of_clock = {name.removeprefix("cpu/"): value for name, value in best.items()}
    chosen = of_clock if arguments.clock == "cpu" else best
    report = _report(chosen, several, arguments.batch)
    _show(report)
    if arguments.json:
        facts = {"clock": arguments.clock, "measured": best}
        arguments.json.write_text(json.dumps({**facts, **report}, indent=1))
    return 0


def _ask(kind: str, ranks: int, arguments: argparse.Namespace) -> dict[str, float]:
    size = ("--batch", str(arguments.batch), "--steps", str(arguments.steps))
    script = (str(Path(__file__)), "--worker", kind, arguments.ranks, *size)
    found: dict[str, float] = json.loads(start_ranks(ranks, *script))
    return found


def _keep(best: dict[str, float], found: dict[str, float]) -> None:
    for name, seconds in found.items():
        best[name] = min(seconds, best.get(name, seconds))


def _report(best: dict[str, float], several: list[int], batch: int) -> dict[str, Any]:
    """Fit the model to one process and to pairs of them; predict the rest."""
    share = batch // 2
    slower = [
        best[f"crowded/{each.name}/{norms}/{share}"] / best[f"alone/{each.name}/{norms}/{share}"]
        for each in NETWORKS
        for norms in NORMS
    ]
    cores = len(os.sched_getaffinity(0)) / max(1.0, statistics.median(slower))
    link = _fit_link({size: best[f"sum/2/{size}"] for size in SIZES}, cores)
    pair = Cluster(1, 2, link, _NOWHERE, cores)
    apart = _fit_apart(best, pair, share)
    clusters = {ranks: Cluster(1, ranks, link, _NOWHERE, cores, apart) for ranks in [1, *several]}
    sums = [
        {
            "ranks": ranks,
            "bytes": size,
            "predicted": clusters[ranks].all_reduce(size),
            "measured": best[f"sum/{ranks}/{size}"],
        }
        for ranks in several
        for size in SIZES
    ]
    steps = []
    for each in NETWORKS:
        network = _network(best, each.name)
        for norms in NORMS:
            for ranks, cluster in clusters.items():
                alone = best[f"alone/{each.name}/{norms}/{batch // ranks}"]
                together = f"step/{each.name}/{norms}/{ranks}"
                step = predict(network, alone, cluster, synchronised=norms == "synchronised")
                steps.append(
                    {
                        "network": each.name,
                        "norms": norms,
                        "ranks": ranks,
                        "computing": step.computing,
                        "predicted": step.seconds,
                        "measured": best.get(together, alone),
                    }
                )
    found = {"bytes_per_second": link.bytes_per_second, "latency": link.seconds_per_message}
    return {"cores": cores, "link": found, "apart": apart, "sums": sums, "steps": steps}


def _network(best: dict[str, float], name: str) -> Network:
    norms = sum(key.startswith(f"norm/{name}/") for key in best)
    channels = tuple(int(best[f"norm/{name}/{number}"]) for number in range(norms))
    return Network(int(best[f"weights/{name}"]), channels)


def _fit_apart(best: dict[str, float], pair: Cluster, share: int) -> float:
    """Find how far apart two ranks meet from the last network alone; the others check it."""
    name = NETWORKS[-1].name
    network = _network(best, name)
    alone = best[f"alone/{name}/synchronised/{share}"]
    missing = best[f"step/{name}/synchronised/2"]
    missing -= predict(network, alone, pair, synchronised=True).seconds
    return max(0.0, missing / (2 * pair.turns * len(network.norm_channels)))


def _fit_link(seconds: dict[int, float], cores: float) -> Link:
    """Find speed and latency of a link from the sums of two ranks, all sizes equally heavy."""
    cluster = Cluster(1, 2, Link(1.0, 1.0), _NOWHERE, cores)
    sizes, times = np.array(list(seconds)), np.array(list(seconds.values()))
    of_bytes = np.array([cluster.turns * size for size in sizes])
    of_messages = np.full(len(sizes), 2 * cluster.turns)
    columns = np.stack([of_bytes, of_messages], 1) / times[:, None]
    (per_byte, per_message), *_ = np.linalg.lstsq(columns, np.ones(len(sizes)), rcond=None)
    return Link(1 / max(per_byte, 1e-15), max(per_message, 0.0))


def _show(report: dict[str, Any]) -> None:
    link = report["link"]
    print(
        f"\n{report['cores']:.2f} cores, {link['bytes_per_second'] / 1e9:.2f} GB/s, "
        f"{1e6 * link['latency']:.0f} us per message, ranks {1e3 * report['apart']:.2f} ms apart\n"
    )
    print("| ranks | sum of | predicted | measured | error |\n|---:|---:|---:|---:|---:|")
    for row in report["sums"]:
        size = f"{row['bytes'] / 2**20:g} MiB" if row["bytes"] >= 2**20 else f"{row['bytes']} B"
        print(f"| {row['ranks']} | {size} | {_milliseconds(row)} |")
    print("\n| network | norms | ranks | predicted | measured | error |")
    print("|---|---|---:|---:|---:|---:|")
    for row in report["steps"]:
        print(f"| {row['network']} | {row['norms']} | {row['ranks']} | {_milliseconds(row)} |")


def _milliseconds(row: dict[str, Any]) -> str:
    error = row["predicted"] / row["measured"] - 1
    return f"{1e3 * row['predicted']:.2f} ms | {1e3 * row['measured']:.2f} ms | {error:+.0%}"


def _work(arguments: argparse.Namespace) -> int:
    """Be one process; the first prints the seconds of what it measured, by name."""
    import torch

    from trainferry.devices.collectives import ALONE
    from trainferry.devices.joining import join
    from trainferry.devices.place import find_place

    kind, ranks = arguments.worker
    counts = [int(count) for count in ranks.split(",")]
    if kind == "together":
        with join(find_place(), torch.device("cpu")) as group:
            found = {**_sums(group), **_steps(arguments, group, [arguments.batch])}
    else:
        shares = [arguments.batch // (2 if kind == "crowded" else count) for count in counts]
        found = _steps(arguments, ALONE, sorted(set(shares)), kind)
    if int(os.environ["RANK"]) == 0:
        print(json.dumps(found))
    return 0


def _sums(group: Any) -> dict[str, float]:  # noqa: ANN401  # a Group, known when torch is there
    import torch

    found = {}
    for size in SIZES:
        values = torch.ones(size // 4)
        times = 20 if size < 2**23 else 8
        found |= _timed(f"sum/{group.ranks}/{size}", lambda v=values: group.sum(v), times, group)
    return found


def _steps(
    arguments: argparse.Namespace,
    group: Any,  # noqa: ANN401  # a Group, known when torch is there
    batches: list[int],
    kind: str = "",
) -> dict[str, float]:
    """Time training steps on made-up samples: every network, with both kinds of norms."""
    found: dict[str, float] = {}
    for network in NETWORKS:
        for norms in NORMS:
            for batch in batches:
                run = _build(network, norms, batch, group)
                stream = run.training_batches()
                case = f"{network.name}/{norms}"
                name = f"{kind}/{case}/{batch}" if kind else f"step/{case}/{group.ranks}"
                act = partial(_step, run, stream)
                found |= _timed(name, act, arguments.steps, group)
        found |= _sizes(network.name, run)
    return found


def _step(run: Any, stream: Any) -> None:  # noqa: ANN401  # a Run, known when torch is there
    from trainferry.train.step import train_step

    train_step(run, next(stream))


def _build(network: Any, norms: str, batch: int, group: Any) -> Any:  # noqa: ANN401
    """Make a run without data; of one process with the same norms that many would have."""
    import torch

    from trainferry.train.build import build_run
    from trainferry.train.norms import synchronise_norms
    from trainferry.train.recipe.read import read_recipe

    torch.set_num_threads(1)
    sets = [*network.sets("low", batch, 1000, PIXELS), "data.synthetic=240", f"loop.norms={norms}"]
    with tempfile.TemporaryDirectory() as folder:
        recipe = read_recipe(network.recipe, sets)
        place = Path(folder) / "run"
        run = build_run(recipe, None, place, torch.device("cpu"), lambda _: None, group)
    if norms == "synchronised" and group.is_alone:
        synchronise_norms(run.network, group)
    run.network.train()
    return run


def _sizes(name: str, run: Any) -> dict[str, float]:  # noqa: ANN401
    from torch import nn

    weights = sum(weight.numel() for weight in run.network.parameters())
    norms = [each for each in run.network.modules() if isinstance(each, nn.BatchNorm2d)]
    channels = {f"norm/{name}/{n}": float(norm.num_features) for n, norm in enumerate(norms)}
    return {f"weights/{name}": float(weights), **channels}


def _timed(
    name: str,
    act: Callable[[], None],
    times: int,
    group: Any,  # noqa: ANN401  # a Group, known when torch is there
) -> dict[str, float]:
    """Return median seconds by the clock, and processor seconds as if nobody else were here."""
    act()
    act()
    seconds, used = [], time.process_time()
    for _ in range(times):
        started = time.perf_counter()
        act()
        seconds.append(time.perf_counter() - started)
    of_all = sum(group.gather((time.process_time() - used) / times))
    at_once = min(group.ranks, len(os.sched_getaffinity(0)))
    return {name: statistics.median(seconds), f"cpu/{name}": of_all / at_once}


if __name__ == "__main__":
    sys.exit(main())
