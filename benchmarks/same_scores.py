"""Do recipes still learn what docs/results says? Trains them again and compares the scores.

    python benchmarks/same_scores.py resnet50_photos=data/photos crnn_words=data/words --to runs

Each run is trained by the command that its page gives, on the data it names, for as many steps as
it was. Beside the recorded score stands the new one, each the best of its evaluations, and how far
two runs of equal networks may lie apart: both are shares of so many samples, and 95 % of such
differences are smaller. A run that scores lower by more is told, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path

from trainferry.train.journal import read_journal

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "results"
SCORES = ("sequence_accuracy", "top1")
CONFIDENCE = 1.96  # deviations, for 95 %


class NeverScoredError(Exception):
    """A run that has no evaluation."""


@dataclass(frozen=True)
class Reached:
    """The best score of a run."""

    score: float
    samples: int
    step: int


@dataclass(frozen=True)
class Compared:
    """A run and the same again."""

    name: str
    recorded: Reached
    again: Reached
    seconds: float

    @property
    def difference(self) -> float:
        return self.again.score - self.recorded.score

    @property
    def noise(self) -> float:
        """How far apart two shares of these samples lie, were their networks equally good."""
        parts = (self.recorded, self.again)
        share = sum(each.score for each in parts) / len(parts)
        return CONFIDENCE * math.sqrt(share * (1 - share) * sum(1 / each.samples for each in parts))


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("runs", nargs="+", metavar="RUN=DATA", help="a run of docs/results")
    parser.add_argument("--to", type=Path, required=True, help="folder for the new runs")
    parser.add_argument("--together", type=int, default=1, help="runs at the same time")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--set", action="append", default=[], help="for all runs")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    arguments = parser.parse_args()
    runs = dict(each.partition("=")[::2] for each in arguments.runs)
    if unknown := [name for name in runs if not (RESULTS / name / "journal.jsonl").is_file()]:
        parser.error(f"docs/results has no run {', '.join(unknown)}")
    found: list[Compared] = []
    with ThreadPoolExecutor(arguments.together) as pool:
        working = {pool.submit(repeat, *run, arguments): run[0] for run in runs.items()}
        for done in as_completed(working):
            try:
                found.append(done.result())
            except subprocess.CalledProcessError as error:
                print(f"{working[done]} failed: {error.stderr[-3000:]}", file=sys.stderr)
            except NeverScoredError as error:
                print(f"{working[done]} failed: {error}", file=sys.stderr)
            if arguments.json:
                figures = [asdict(each) for each in found]
                arguments.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    show(found)
    lower = [each.name for each in found if each.difference < -each.noise]
    for name in lower:
        print(f"{name} learns less than it did", file=sys.stderr)
    return 1 if lower or len(found) < len(runs) else 0


def repeat(name: str, data: str, arguments: argparse.Namespace) -> Compared:
    """Train the run once more, and say how it compares."""
    began = time.monotonic()
    sets = [*steps_of(RESULTS / name / "recipe.toml"), *arguments.set]
    command = [sys.executable, "-m", "trainferry", "train", name, "--data", data]
    command += ["--run", str(arguments.to / name), "--device", arguments.device]
    command += [word for each in sets for word in ("--set", each)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    again = best_of(arguments.to / name)
    return Compared(name, best_of(RESULTS / name), again, time.monotonic() - began)


def steps_of(recipe: Path) -> list[str]:
    """Return how long a run was to be told, unless its recipe counts epochs."""
    schedule = tomllib.loads(recipe.read_text(encoding="utf-8"))["schedule"]
    return [] if schedule.get("epochs") else [f"schedule.steps={schedule['steps']}"]


def best_of(run: Path) -> Reached:
    evaluated = [each for each in read_journal(run) if each["event"] == "evaluated"]
    if not evaluated:
        raise NeverScoredError(f"`{run}` was never scored: its data has no validation samples")
    name = next(score for score in SCORES if score in evaluated[0]["scores"])
    best = max(evaluated, key=lambda each: float(each["scores"][name]))
    return Reached(best["scores"][name], int(best["scores"]["samples"]), best["step"])


def show(found: Sequence[Compared]) -> None:
    print("| run | samples | recorded | again | differs | 95 % of differences | whole command |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for one in sorted(found, key=lambda each: each.name):
        scores = f"{one.recorded.score:.2%} | {one.again.score:.2%} | {100 * one.difference:+.2f}"
        within = f"±{100 * one.noise:.2f} | {one.seconds:.0f} s"
        print(f"| {one.name} | {one.again.samples:,} | {scores} | {within} |")


if __name__ == "__main__":
    sys.exit(main())
