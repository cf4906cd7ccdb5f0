"""How well does Attention-OCR read street signs after so many seconds of training?

    python benchmarks/street_signs.py --to FOLDER --count 400000 --seconds 560

Renders signs unless FOLDER holds them already, times a short run, and trains for as many steps as
fit into the seconds, so that the learning rate comes to its end. Rendering does not count. Prints
the scores on 2,000 held-out signs, whose names and fonts no training sign has.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from trainferry.train.journal import read_journal

RECIPE = "attention_ocr_signs"
HELD_OUT = 2_000
TRIAL_STEPS = 300
AROUND = 25.0  # seconds of the start, evaluations and checkpoints
SLOWER = 1.03
EVALUATIONS = 5


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--to", type=Path, required=True, help="for signs, runs and figures")
    parser.add_argument("--count", type=int, default=400_000, help="signs to train on")
    parser.add_argument("--held-out", type=int, default=HELD_OUT, help="signs to score by")
    parser.add_argument("--seconds", type=float, default=560.0, help="for the training command")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--set", action="append", default=[], help="for both runs")
    parser.add_argument("--trial-steps", type=int, default=TRIAL_STEPS)
    arguments = parser.parse_args()
    signs = arguments.to / "signs"
    render(signs, "train", arguments.count)
    render(signs, "val", arguments.held_out)
    never = 10**9
    trial = train(arguments, "trial", arguments.trial_steps, evaluate_every=never)
    pace = 1 / steps_per_second(trial)
    steps = int((arguments.seconds - AROUND) / (pace * SLOWER)) // 100 * 100 or 100
    began = time.monotonic()
    run = train(arguments, "run", steps, evaluate_every=max(1, steps // EVALUATIONS))
    facts = {
        "milliseconds_per_step_in_the_trial": 1000 * pace,
        "steps": steps,
        "seconds": time.monotonic() - began,
        "scores": scores(run),
    }
    print(json.dumps(facts, indent=1))
    (arguments.to / "figures.json").write_text(json.dumps(facts, indent=1), encoding="utf-8")
    return 0


def render(folder: Path, split: str, count: int) -> None:
    if list((folder / "tfrecords").glob(f"{split}_*")):
        return
    trainferry("data", "signs", "--count", str(count), "--split", split, "--to", str(folder))


def train(
    arguments: argparse.Namespace, name: str, steps: int, *, evaluate_every: int
) -> list[dict[str, Any]]:
    """Train and return the journal."""
    run = arguments.to / name
    sets = [f"schedule.steps={steps}", f"loop.evaluate_every={evaluate_every}", *arguments.set]
    trainferry(
        *("train", RECIPE, "--data", str(arguments.to / "signs"), "--run", str(run)),
        *("--device", arguments.device),
        *(word for each in sets for word in ("--set", each)),
    )
    return list(read_journal(run))


def steps_per_second(journal: list[dict[str, Any]]) -> float:
    """Between the first and the last entry: what comes before the first is the start."""
    logged = [entry for entry in journal if entry["event"] == "logged"]
    if len(logged) < 2:
        sys.exit("the trial has too few steps: pass --trial-steps or --set loop.log_every=50")
    first, last = logged[0], logged[-1]
    return float((last["step"] - first["step"]) / (last["time"] - first["time"]))


def scores(journal: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every evaluation, without the mistakes that it shows."""
    return [
        {name: value for name, value in entry.items() if not isinstance(value, list)}
        for entry in journal
        if entry["event"] == "evaluated"
    ]


def trainferry(*words: str) -> None:
    done = subprocess.run([sys.executable, "-m", "trainferry.cli.main", *words], check=False)
    if done.returncode:
        sys.exit(f"`trainferry {' '.join(words)}` failed")


if __name__ == "__main__":
    sys.exit(main())
