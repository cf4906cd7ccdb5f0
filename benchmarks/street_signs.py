"""How well does Attention-OCR read street signs after so many seconds of training?

    python benchmarks/street_signs.py --to FOLDER --render-seconds 420 --seconds 560 --out RESULTS

Renders signs unless FOLDER holds them already, for as long as it may, times a short run, and
trains for as many steps as fit into the seconds, so that the learning rate comes to its end.
Rendering and the short run do not count. Scores 2,000 held-out signs, whose names and fonts no
training sign has, and with `--real FOLDER` the signs in other records. What a page needs is in
RESULTS then: figures, journal, recipe, curves, attention, wrong readings and weights.

`--render-only` and `--trial-only` end earlier; the same command without them goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from trainferry.train.data.render.shards import EnoughError
from trainferry.train.data.render.signs.make import SignsOptions, render_signs
from trainferry.train.data.render.signs.street import without_accents
from trainferry.train.data.signs.charset import fsns_charset, write_charset
from trainferry.train.data.tfrecord import has_records
from trainferry.train.journal import read_journal
from trainferry.train.scores.words import edit_distance

WRONG = "wrong.tsv"
RECIPE = "attention_ocr_signs"
PLOT = Path(__file__).resolve().parents[1] / "docs" / "results" / "plot_journal.py"
SHARD, HELD_OUT_SHARD = 1_000, 100  # signs of a file
TRIAL_STEPS, TRIAL_LOG = 300, 25
NEVER = 10**9
SLOWER = 1.03
EVALUATIONS = 5
MOST_BYTES = 16 << 20  # of the weights, to be kept
WIDEST = 1_400  # pixels of a picture for the page

Entry = dict[str, Any]


def main() -> int:
    arguments = parse_arguments()
    signs = arguments.to / "signs"
    render(signs, "val", arguments.held_out, arguments.processes, shard=HELD_OUT_SHARD)
    deadline = arguments.began + arguments.render_seconds
    render(signs, "train", arguments.count, arguments.processes, until=deadline)
    if arguments.render_only:
        return 0
    steps, facts = arguments.steps, {}
    if not steps:
        trial = time_trial(arguments)
        steps, facts = trial.steps_in(arguments.seconds), {"trial": vars(trial)}
    if arguments.trial_only:
        print(json.dumps({**facts, "steps": steps}, indent=1))
        return 0
    every = [f"loop.{what}_every={max(1, steps // EVALUATIONS)}" for what in ("evaluate", "save")]
    seconds = train(arguments, "run", steps, every)
    report(arguments, {**facts, "steps": steps, "seconds_of_the_command": seconds})
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--to", type=Path, required=True, help="for signs and runs")
    parser.add_argument("--out", type=Path, help="for results; default: `results` in --to")
    parser.add_argument("--count", type=int, default=400_000, help="signs to train on, at most")
    parser.add_argument("--held-out", type=int, default=2_000, help="signs to score by")
    parser.add_argument("--render-seconds", type=float, default=float("inf"), help="at most")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--render-only", action="store_true", help="end when signs are there")
    parser.add_argument("--trial-only", action="store_true", help="end after the short run")
    parser.add_argument("--seconds", type=float, default=560.0, help="for the training command")
    parser.add_argument("--steps", type=int, default=0, help="train so long, without a short run")
    parser.add_argument("--trial-steps", type=int, default=TRIAL_STEPS)
    parser.add_argument("--real", type=Path, help="records with a split `val`, to score, too")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--set", action="append", default=[], help="for both runs")
    arguments = parser.parse_args()
    arguments.out = arguments.out or arguments.to / "results"
    arguments.began = time.monotonic()
    return arguments


def render(
    folder: Path,
    split: str,
    count: int,
    processes: int,
    *,
    shard: int = SHARD,
    until: float = float("inf"),
) -> None:
    """Render until all signs are there or the time is up; sign n is the same in both cases."""
    if has_records(folder, split):
        return
    folder.mkdir(parents=True, exist_ok=True)
    write_charset(fsns_charset(), folder)
    told = 0

    def progress(done: int, whole: int) -> None:
        nonlocal told
        if done == whole or done >= told + 20_000:
            told = done
            tell(f"{done:,} of {whole:,} signs of {split}")
        if time.monotonic() > until and done < whole and has_records(folder, split):
            raise EnoughError

    options = SignsOptions(count=count, split=split, processes=processes, shard=shard)
    try:
        render_signs(options, folder, progress)
    except EnoughError:
        tell(f"the time for signs of {split} is up")
    tell(f"{len(list((folder / 'tfrecords').glob(f'{split}_*.tfrecords')))} files of {split}")


@dataclass(frozen=True)
class Trial:
    """Seconds of a short run: for each step, and for what a longer run has as well."""

    step: float
    start: float
    evaluation: float  # with the checkpoint behind it

    def steps_in(self, seconds: float) -> int:
        around = self.start + EVALUATIONS * self.evaluation
        steps = int((seconds - around) / (self.step * SLOWER))
        return max(steps // 100 * 100, 100)


def time_trial(arguments: argparse.Namespace) -> Trial:
    """Train a few steps, unless that was done before, and read its journal."""
    kept = arguments.to / "trial.json"
    if not kept.is_file():
        shutil.rmtree(arguments.to / "trial", ignore_errors=True)
        rare = [f"loop.{what}_every={NEVER}" for what in ("evaluate", "save")]
        log = f"loop.log_every={max(1, min(TRIAL_LOG, arguments.trial_steps // 4))}"
        seconds = train(arguments, "trial", arguments.trial_steps, [*rare, log])
        trial = read_trial(list(read_journal(arguments.to / "trial")), seconds)
        kept.write_text(json.dumps(vars(trial)), encoding="utf-8")
    return Trial(**json.loads(kept.read_text(encoding="utf-8")))


def read_trial(journal: list[Entry], seconds: float) -> Trial:
    """Leave out the first quarter: batches that were read during the start make it fast."""
    logged = [entry for entry in journal if entry["event"] == "logged"]
    first, last = logged[len(logged) // 4], logged[-1]
    step = (last["time"] - first["time"]) / (last["step"] - first["step"])
    saved = next(entry for entry in journal if entry["event"] == "saved")
    evaluation = saved["time"] - last["time"]
    return Trial(step, seconds - step * last["step"] - evaluation, evaluation)


def train(arguments: argparse.Namespace, name: str, steps: int, sets: list[str]) -> float:
    """Train, and return how many seconds the whole command took."""
    began = time.monotonic()
    sets = [f"schedule.steps={steps}", *sets, *arguments.set]
    trainferry(
        *("train", RECIPE, "--data", str(arguments.to / "signs")),
        *("--run", str(arguments.to / name), "--device", arguments.device),
        *(word for each in sets for word in ("--set", each)),
    )
    return time.monotonic() - began


def report(arguments: argparse.Namespace, facts: Entry) -> None:
    """Write what a page needs, the dearest first; what fails is told and stops nothing else."""
    run, out = arguments.to / "run", arguments.out
    out.mkdir(parents=True, exist_ok=True)
    journal = list(read_journal(run))
    facts["signs"] = next(e["samples"] for e in map(facts_of, journal) if e)
    facts["seconds_of_training"] = journal[-1].get("seconds")
    facts["held_out"] = [e["scores"] | {"step": e["step"]} for e in only(journal, "evaluated")]

    def keep(work: Callable[[], None]) -> None:
        try:
            work()
        except Exception:  # noqa: BLE001  # a lost picture must not cost the figures
            traceback.print_exc()
            facts.setdefault("failed", []).append(traceback.format_exc(limit=-1))
        (out / "figures.json").write_text(
            json.dumps(facts, indent=1, ensure_ascii=False), encoding="utf-8"
        )

    for name in ("journal.jsonl", "recipe.toml"):
        shutil.copy(run / name, out / name)
    keep(lambda: keep_weights(run, out / "weights.safetensors"))
    (out / WRONG).write_text("set\tsign\tkind\ttruth\tread\tconfidence\n", encoding="utf-8")
    for name, data in (("rendered", arguments.to / "signs"), ("real", arguments.real)):
        if data is not None:
            keep(partial(read_set, arguments, name, data, facts))
    keep(lambda: call(str(PLOT), str(run), str(out / "curve.png")))
    print(json.dumps(facts, indent=1, ensure_ascii=False))


def facts_of(entry: Entry) -> Entry:
    return entry["facts"] if entry["event"] == "started" else {}


def only(journal: list[Entry], event: str) -> list[Entry]:
    return [entry for entry in journal if entry["event"] == event]


def keep_weights(run: Path, to: Path) -> None:
    """Keep the averaged weights of the best checkpoint, unless they are too large."""
    from safetensors.torch import save_file

    from trainferry.train.checkpoint import find_checkpoint, load_weights

    save_file(load_weights(find_checkpoint(run, "best")), to)
    if to.stat().st_size > MOST_BYTES:
        to.unlink()


@dataclass(frozen=True)
class Reading:
    """A sign of a set, and what was read."""

    position: int
    truth: str
    read: str
    confidence: float

    def kind(self) -> str:
        """Say in a word what is wrong."""
        truth, read = self.truth, self.read
        if truth == read:
            return "right"
        if truth.lower() == read.lower():
            return "case"
        if without_accents(truth).lower() == without_accents(read).lower():
            return "accents"
        if letters(truth) == letters(read):
            return "spaces and signs"
        edits = edit_distance(truth, read)
        return "one character" if edits == 1 else "two characters" if edits == 2 else "more"


def letters(text: str) -> str:
    return "".join(each for each in text if each.isalnum())


def read_set(arguments: argparse.Namespace, name: str, data: Path, facts: Entry) -> None:
    """Read all signs of a set; list what is wrong, and draw one of them."""
    readings, scores = read_signs_of(arguments, data)
    kinds = Counter(reading.kind() for reading in readings)
    facts[name] = {**scores, "kinds": dict(kinds.most_common())}
    with (arguments.out / WRONG).open("a", encoding="utf-8") as file:
        for one in readings:
            if one.truth != one.read:
                cells = (name, one.position, one.kind(), one.truth, one.read)
                file.write("\t".join(map(str, cells)) + f"\t{one.confidence:.3f}\n")
    facts[name]["drawn"] = draw_one(arguments, name, data, readings)


def read_signs_of(arguments: argparse.Namespace, data: Path) -> tuple[list[Reading], Entry]:
    """Read every sign of the split `val` as `trainferry evaluate` does; readings and scores."""
    import torch

    from trainferry.devices.device import choose_device, pinned_memory_helps
    from trainferry.devices.precision import full_precision
    from trainferry.train.build import count_workers, evaluation_source, open_run
    from trainferry.train.data.batches import evaluation_batches
    from trainferry.train.tasks.spell import Spell

    device = choose_device(arguments.device)
    opened = open_run(arguments.to / "run", device=device)
    task = opened.task
    assert isinstance(task, Spell)
    source = evaluation_source(opened.recipe, data, "val")
    batches = evaluation_batches(
        source,
        batch=min(opened.recipe.loop.batch, 256),
        workers=count_workers(opened.recipe),
        pinned=pinned_memory_helps(device),
    )
    score, found = task.new_score(), []
    with torch.no_grad(), full_precision(device):
        for batch in batches:
            there = batch.to(device)
            logits = opened.network(task.inputs(there.images))
            score.add(logits, there)
            rows = zip(batch.valid.tolist(), batch.positions.tolist(), batch.texts, strict=True)
            found += [
                Reading(position, truth, read.text, read.confidence)
                for (valid, position, truth), read in zip(rows, task.read(logits), strict=True)
                if valid
            ]
    scores = {**score.values(), "confused": score.details()["confused"][:10], "step": opened.step}
    return found, scores


def draw_one(
    arguments: argparse.Namespace, name: str, data: Path, readings: list[Reading]
) -> Entry:
    """Draw where the network looked on one sign: of those it read right, a long one."""
    from trainferry.train.build import evaluation_source
    from trainferry.train.data.pictures import encode_png
    from trainferry.train.run_folder import saved_recipe

    recipe = saved_recipe(arguments.to / "run")
    right = [one for one in readings if one.truth == one.read] or readings
    chosen = sorted(right, key=lambda one: (len(one.truth), -one.position))[len(right) * 3 // 4]
    picture = arguments.to / f"{name}.png"
    shown = evaluation_source(recipe, data, "val").shown(chosen.position)
    picture.write_bytes(encode_png(shown))
    drawn = arguments.out / f"attention_{name}.png"
    asked = ("predict", str(arguments.to / "run"), str(picture), "--device", arguments.device)
    trainferry(*asked, "--attention", str(drawn))
    shrink(drawn)
    return vars(chosen)


def shrink(picture: Path) -> None:
    """Make a picture fit for a page: fewer pixels, and fewer colours."""
    from PIL import Image

    with Image.open(picture) as opened:
        small = opened.convert("RGB")
    small.thumbnail((WIDEST, 4 * WIDEST))
    small.quantize(256).save(picture, optimize=True)


def trainferry(*words: str) -> None:
    call("-m", "trainferry", *words)


def call(*words: str) -> None:
    """Run a program of Python; where it fails, that is told."""
    subprocess.run([sys.executable, *words], check=True)


def tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
