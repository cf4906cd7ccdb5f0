"""Times a recipe and a peer in turn, each in processes of its own."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from trainferry.errors import TrainingError
from trainferry.train.peers.peer import Case, Peer

ROUNDS = 3
_SHOWN = 12  # lines of a peer that failed


@dataclass(frozen=True)
class Pace:
    """One side; medians over the rounds."""

    name: str
    images_per_second: float
    milliseconds_per_step: float
    peak_memory_bytes: int
    taken_memory_bytes: int
    first_step_seconds: float


@dataclass(frozen=True)
class Beside:
    """Ours and theirs. `ratios` is how many times more pictures a second ours had, each round."""

    ours: Pace
    peer: Pace
    ratios: tuple[float, ...]
    speed: dict[str, Any]
    """What the last `benchmark --json` of ours said."""

    @property
    def ratio(self) -> float:
        return statistics.median(self.ratios)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "ratio": self.ratio}


def time_beside(ours: Sequence[str], peer: Peer, case: Case, steps: int, rounds: int) -> Beside:
    """Run `trainferry benchmark` with the words of `ours`, then the peer, as often as asked."""
    asked = json.dumps({"peer": asdict(peer), "case": asdict(case), "steps": steps})
    mine, theirs = [], []
    for _ in range(rounds):
        mine.append(_run("trainferry", "-m", "trainferry", "benchmark", *ours, "--json"))
        theirs.append(_run(str(peer), "-m", "trainferry.train.peers.work", asked))
    seconds = [each["milliseconds_per_step"] / 1000 for each in mine]
    of_peer = [each["seconds"] for each in theirs]
    return Beside(
        ours=_pace("trainferry", case.batch, seconds, mine),
        peer=_pace(f"{peer}, {case.mode}", case.batch, of_peer, theirs),
        ratios=tuple(b / a for a, b in zip(seconds, of_peer, strict=True)),
        speed=mine[-1],
    )


def _pace(name: str, batch: int, seconds: list[float], told: list[dict[str, Any]]) -> Pace:
    step = statistics.median(seconds)
    return Pace(
        name,
        images_per_second=batch / step,
        milliseconds_per_step=1000 * step,
        peak_memory_bytes=max(int(each["peak_memory_bytes"]) for each in told),
        taken_memory_bytes=max(int(each["taken_memory_bytes"]) for each in told),
        first_step_seconds=statistics.median(each["first_step_seconds"] for each in told),
    )


def _run(name: str, *arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode:
        end = "\n".join(done.stderr.strip().splitlines()[-_SHOWN:])
        raise TrainingError(
            f"{name} ended with status {done.returncode}:\n{end}",
            hint="these are the last lines of its own process",
        )
    # A peer may print what it likes; its result is the last thing it says.
    text = done.stdout if name == "trainferry" else done.stdout.strip().splitlines()[-1]
    found: dict[str, Any] = json.loads(text)
    return found
