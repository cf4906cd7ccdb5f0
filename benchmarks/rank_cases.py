"""What `ranks.py`, `rank_control.py` and `scaling.py` share: networks, data, and starting ranks."""

from __future__ import annotations

import colorsys
import os
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
TRAINFERRY = ("-m", "trainferry")


@dataclass(frozen=True)
class Network:
    """A recipe with what it needs to give the same numbers on any number of ranks.

    `low` are the settings of a learning rate so low that rounding stays small.
    """

    name: str
    recipe: str
    needed: tuple[str, ...]
    low: tuple[str, ...]
    sized: tuple[str, ...] = ()  # for pictures of a size that can be chosen

    def sets(self, rate: str, batch: int, steps: int, pixels: int) -> list[str]:
        """Return the settings of a run with the `low` rate, or with that of the `recipe`."""
        return [
            *self.needed,
            *(each.format(pixels, pixels * 8 // 7) for each in self.sized),
            *(self.low if rate == "low" else ("schedule.name=constant",)),
            f"loop.batch={batch}",
            f"schedule.steps={steps}",
            "schedule.warmup_steps=0",
            f"loop.evaluate_every={steps}",
            f"loop.save_every={steps}",
            "loop.log_every=1",
            "loop.norms=synchronised",
            "precision.name=fp32",
            "precision.loss_scale=none",
            "data.workers=0",
        ]


NETWORKS = (
    Network(
        "CRNN",
        "crnn_small",
        needed=("network.dropout=0",),
        low=("optimizer.name=momentum", "optimizer.learning_rate=3e-4"),
    ),
    Network(
        "ResNet-18",
        "resnet50_photos",
        needed=(
            "network.size=18",
            "augment.mixup=0",
            "augment.cutmix=0",
            "schedule.epochs=0",
            "schedule.warmup_epochs=0",
            "loop.evaluate_epochs=0",
            "loop.save_epochs=0",
        ),
        low=(
            "optimizer.learning_rate=1e-5",
            "optimizer.rate_for_batch=0",
            "optimizer.nesterov=false",
        ),
        sized=("picture.height={0}", "picture.width={0}", "picture.evaluation_size={1}"),
    ),
)


def start_ranks(ranks: int, *command: str) -> str:
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


def make_data(network: Network, folder: Path) -> Path:
    """Make the samples that a network trains on; return their folder."""
    data = folder / f"data-{network.name}"
    _make_words(data) if network.recipe.startswith("crnn") else _make_photos(data)
    return data


def _make_words(folder: Path) -> None:
    for split, count in (("train", "240"), ("val", "75")):
        place = ("--to", str(folder), "--split", split, "--processes", "1")
        start_ranks(1, *TRAINFERRY, "data", "words", "--count", count, *place)


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
    start_ranks(1, *TRAINFERRY, "data", "folder", pictures, *place)
