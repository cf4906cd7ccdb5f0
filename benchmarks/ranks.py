"""The same training on 1, 2, 3, 4 and 8 processes: losses, scores and seconds side by side.

CRNN and ResNet-18 train on the CPU with synchronised norms and the same whole batch. Then every
number of ranks scores the same checkpoint, whose scores must be equal to the last bit. Learning
rates are low: training itself takes apart what rounding made different, the faster it learns.
"""

from __future__ import annotations

import argparse
import colorsys
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
MOST = 1e-5
_TRAINFERRY = ("-m", "trainferry.cli.main")


@dataclass(frozen=True)
class Network:
    """A recipe with what it needs to give the same numbers on any number of ranks."""

    name: str
    recipe: str
    sets: tuple[str, ...]


NETWORKS = (
    Network(
        "CRNN",
        "crnn_small",
        ("network.dropout=0", "optimizer.name=momentum", "optimizer.learning_rate=3e-4"),
    ),
    Network(
        "ResNet-18",
        "resnet50_photos",
        (
            "network.size=18",
            "picture.height=96",
            "picture.width=96",
            "picture.evaluation_size=104",
            "augment.mixup=0",
            "augment.cutmix=0",
            "optimizer.learning_rate=1e-5",
            "optimizer.rate_for_batch=0",
            "optimizer.nesterov=false",
            "schedule.epochs=0",
            "schedule.warmup_epochs=0",
            "loop.evaluate_epochs=0",
            "loop.save_epochs=0",
        ),
    ),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--ranks", default="1,2,3,4,8", help="numbers of ranks; the first is 1")
    parser.add_argument("--batch", type=int, default=24, help="pictures of all ranks together")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--network", help="only this one: CRNN or ResNet-18")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    parser.add_argument(
        "--score", nargs=3, metavar=("RECIPE", "DATA", "RUN"), help=argparse.SUPPRESS
    )
    parser.add_argument("--set", action="append", default=[], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.score:
        return _score(*arguments.score, arguments.set)
    report = {"networks": []}
    fine = True
    with tempfile.TemporaryDirectory() as folder:
        for network in NETWORKS:
            if arguments.network not in (None, network.name):
                continue
            rows = _measure(network, arguments, Path(folder))
            fine = _show(network, rows, arguments) and fine
            report["networks"].append({"name": network.name, "rows": rows})
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1))
    return 0 if fine else 1


def _measure(network: Network, arguments: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    data = folder / f"data-{network.name}"
    _make_words(data) if network.recipe.startswith("crnn") else _make_photos(data)
    sets = [
        *network.sets,
        f"loop.batch={arguments.batch}",
        f"schedule.steps={arguments.steps}",
        "schedule.warmup_steps=0",
        f"loop.evaluate_every={arguments.steps}",
        f"loop.save_every={arguments.steps}",
        "loop.log_every=1",
        "loop.norms=synchronised",
        "precision.name=fp32",
        "precision.loss_scale=none",
        "data.workers=0",
    ]
    given = [part for each in sets for part in ("--set", each)]
    counts = [int(count) for count in arguments.ranks.split(",")]
    rows = []
    for ranks in counts:
        run = folder / f"{network.name}-{ranks}"
        place = ("--data", str(data), "--run", str(run), "--device", "cpu")
        _start(ranks, *_TRAINFERRY, "train", network.recipe, *place, *given)
        events = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
        logged = [event for event in events if event["event"] == "logged"]
        times = [event["time"] for event in logged]
        script = (str(Path(__file__)), "--score", network.recipe, str(data))
        score = _start(ranks, *script, str(folder / f"{network.name}-{counts[0]}"), *given)
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


def _start(ranks: int, *command: str) -> str:
    """Run a command as so many ranks with one thread each; return what rank 0 printed."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    processes = []
    for rank in range(ranks):
        variables = {
            "PYTHONPATH": str(ROOT / "src"),
            "OMP_NUM_THREADS": "1",
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
            "WORLD_SIZE": str(ranks),
            "LOCAL_WORLD_SIZE": str(ranks),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port),
        }
        processes.append(
            subprocess.Popen(
                [sys.executable, *command],
                env={**os.environ, **variables},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    ended = [process.communicate() for process in processes]
    for process, (_, messages) in zip(processes, ended, strict=True):
        if process.returncode:
            raise SystemExit(messages)
    return ended[0][0]


def _make_words(folder: Path) -> None:
    for split, count in (("train", "240"), ("val", "75")):
        place = ("--to", str(folder), "--split", split, "--processes", "1")
        _start(1, *_TRAINFERRY, "data", "words", "--count", count, *place)


def _make_photos(folder: Path) -> None:
    """Discs of five colours on noisy grounds, as a folder of pictures for `data folder`."""
    from PIL import Image, ImageDraw

    dice = np.random.default_rng(0)
    for number in range(240):
        kind = number % 5
        image = Image.fromarray(dice.integers(60, 190, (72, 96, 3), dtype=np.uint8))
        x, y, radius = (float(value) for value in dice.uniform((20, 20, 10), (70, 50, 20)))
        colour = tuple(round(255 * part) for part in colorsys.hsv_to_rgb(kind / 5, 0.7, 0.9))
        ImageDraw.Draw(image).ellipse((x - radius, y - radius, x + radius, y + radius), colour)
        place = folder.with_name("pictures") / f"kind{kind}"
        place.mkdir(parents=True, exist_ok=True)
        image.save(place / f"{number}.jpg", quality=90)
    pictures = str(folder.with_name("pictures"))
    place = ("--to", str(folder), "--validation", "0.2")
    _start(1, *_TRAINFERRY, "data", "folder", pictures, *place)


if __name__ == "__main__":
    sys.exit(main())
