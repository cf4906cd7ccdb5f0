"""The same training on 1, 2, 3, 4 and 8 processes: losses, scores and seconds side by side.

CRNN and ResNet-18 train on the CPU with synchronised norms and the same whole batch. Then every
number of ranks scores the same checkpoint, whose scores must be equal to the last bit. Learning
rates are low: training itself takes apart what rounding made different, the faster it learns.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from rank_cases import NETWORKS, TRAINFERRY, Network, make_data, start_ranks
from rank_control import RATES, run_control, show_control

MOST = 1e-5


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--ranks", default="1,2,3,4,8", help="numbers of ranks; the first is 1")
    parser.add_argument("--batch", type=int, default=24, help="pictures of all ranks together")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--network", help="only this one: CRNN or ResNet-18")
    parser.add_argument("--pixels", type=int, default=224, help="a side of ResNet-18's pictures")
    parser.add_argument(
        "--rate", choices=RATES, default="low", help="a low learning rate, or that of the recipe"
    )
    parser.add_argument(
        "--control", action="store_true", help="how far rounding alone takes losses apart instead"
    )
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    parser.add_argument(
        "--score", nargs=3, metavar=("RECIPE", "DATA", "RUN"), help=argparse.SUPPRESS
    )
    parser.add_argument("--set", action="append", default=[], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.score:
        return _score(*arguments.score, arguments.set)
    counts = [int(count) for count in arguments.ranks.split(",")]
    report: dict[str, Any] = {"networks": []}
    fine = True
    with tempfile.TemporaryDirectory() as folder:
        for network in NETWORKS:
            if arguments.network not in (None, network.name):
                continue
            data = make_data(network, Path(folder))
            given = (network, counts, arguments, Path(folder), data)
            if arguments.control:
                control = run_control(*given)
                fine = show_control(control, MOST) and fine
                report["networks"].append(control)
                continue
            rows = _measure(*given)
            fine = _show(network, rows, arguments) and fine
            report["networks"].append({"name": network.name, "rows": rows})
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1))
    return 0 if fine else 1


def _measure(
    network: Network, counts: list[int], arguments: argparse.Namespace, folder: Path, data: Path
) -> list[dict[str, Any]]:
    sets = network.sets(arguments.rate, arguments.batch, arguments.steps, arguments.pixels)
    given = [part for each in sets for part in ("--set", each)]
    rows = []
    for ranks in counts:
        run = folder / f"{network.name}-{ranks}"
        place = ("--data", str(data), "--run", str(run), "--device", "cpu")
        start_ranks(ranks, *TRAINFERRY, "train", network.recipe, *place, *given)
        events = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
        logged = [event for event in events if event["event"] == "logged"]
        times = [event["time"] for event in logged]
        script = (str(Path(__file__)), "--score", network.recipe, str(data))
        score = start_ranks(ranks, *script, str(folder / f"{network.name}-{counts[0]}"), *given)
        rows.append(
            {
                "ranks": ranks,
                "losses": [event["loss"] for event in logged],
                "seconds_per_step": statistics.median(np.diff(times)) if len(times) > 1 else 0.0,
                "scores": next(e["scores"] for e in events if e["event"] == "evaluated"),
                "same_checkpoint": json.loads(score),
            }
        )
        print(f"{network.name}, {ranks} ranks: done", file=sys.stderr)
    return rows


def _show(network: Network, rows: list[dict[str, Any]], arguments: argparse.Namespace) -> bool:
    first = rows[0]
    fine = True
    print(f"\n{network.name}, batch {arguments.batch}, {arguments.steps} steps, gloo\n")
    print(
        "| ranks | first loss | last loss | largest difference | score | same checkpoint | s/step |"
    )
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        pairs = zip(row["losses"], first["losses"], strict=True)
        difference = max(abs(one - other) / max(abs(other), 1.0) for one, other in pairs)
        equal = row["same_checkpoint"] == first["same_checkpoint"]
        shares = [f"{value:.2%}" for name, value in row["scores"].items() if _is_share(name)]
        same_shares = all(
            value == first["scores"][name]
            for name, value in row["scores"].items()
            if _is_share(name) or name == "samples"
        )
        fine = fine and difference <= MOST and equal and same_shares
        print(
            f"| {row['ranks']} | {row['losses'][0]:.6f} | {row['losses'][-1]:.6f} "
            f"| {difference:.1e} | {' '.join(shares)} | {'equal' if equal else 'DIFFERENT'} "
            f"| {row['seconds_per_step']:.2f} |"
        )
    return fine


def _is_share(name: str) -> bool:
    return name.startswith(("sequence", "character", "edit", "top"))


def _score(recipe_name: str, data: str, run: str, sets: list[str]) -> int:
    """Score the last checkpoint of a run with all ranks; rank 0 prints what came out."""
    import torch

    from trainferry.devices.joining import join
    from trainferry.devices.place import find_place
    from trainferry.train.build import build_run
    from trainferry.train.loop import resume
    from trainferry.train.recipe.read import read_recipe
    from trainferry.train.scores.evaluate import evaluate_together

    cpu = torch.device("cpu")
    with join(find_place(), cpu) as group:
        recipe = read_recipe(recipe_name, sets)
        built = build_run(recipe, Path(data), Path(run), cpu, lambda _: None, group)
        resume(built)
        values = evaluate_together(built).values
    if group.is_first:
        print(json.dumps({name: value.hex() for name, value in values.items()}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
