"""The process of a peer: builds its step, times it as ours is timed, prints one line of JSON."""

from __future__ import annotations

import json
import sys
import time

import torch

from trainferry.devices.device import prepare, synchronize
from trainferry.errors import TrainferryError
from trainferry.train.benchmark import WARM_UP, memory_used, timed
from trainferry.train.peers.peer import Case, Peer
from trainferry.train.peers.steps import build_step


def main(arguments: list[str]) -> int:
    given = json.loads(arguments[0])
    try:
        found = _measure(Peer(**given["peer"]), Case(**given["case"]), given["steps"])
    except TrainferryError as error:
        sys.stderr.write(f"{error}\n{error.hint}\n")
        return 1
    sys.stdout.write(f"\n{json.dumps(found)}\n")
    return 0


def _measure(peer: Peer, case: Case, steps: int) -> dict[str, float]:
    device = torch.device(case.device)
    prepare(device, case.precision)
    began = time.perf_counter()
    step = build_step(peer, case)
    step()
    synchronize(device)
    first = time.perf_counter() - began
    for _ in range(WARM_UP - 1):
        step()
    seconds = timed(step, device, steps)
    memory, _ = memory_used(device)
    return {
        "seconds": seconds,
        "first_step_seconds": first,
        "peak_memory_bytes": memory.held_bytes,
        "taken_memory_bytes": memory.taken_bytes,
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
