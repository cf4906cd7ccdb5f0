"""Trains with harm on the last rank alone: `python -m tests.train.debug.rank_harm DATA RUN`."""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from tests.train.cases import CASES
from tests.train.debug.planted import Swollen, plant
from trainferry.devices.joining import join
from trainferry.devices.place import find_place
from trainferry.errors import TrainingError
from trainferry.train.build import build_run
from trainferry.train.debug.attach import attach_observers
from trainferry.train.debug.switches import parse_switches
from trainferry.train.loop import train


def main(data: Path, folder: Path) -> str:
    cpu = torch.device("cpu")
    torch.set_num_threads(1)
    with join(find_place(), cpu) as group:
        recipe = CASES[0].recipe("loop.norms=synchronised")
        run = build_run(recipe, data, folder, cpu, lambda _: None, group)
        harm = 1e60 if group.rank == group.ranks - 1 else 1.0
        plant(run.network, Swollen, harm)
        switches = parse_switches(["overflow", "dump=1:classifier"])
        observers = attach_observers(run, switches, lambda _: None)
        try:
            train(run, lambda _: None, observers)
        except TrainingError as error:
            return str(error)
    return "nothing was found"


if __name__ == "__main__":
    sys.stdout.write(main(Path(sys.argv[1]), Path(sys.argv[2])))
