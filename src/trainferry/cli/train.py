"""trainferry train: train a recipe on record files, or go on with a run."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from trainferry.errors import UsageError

if TYPE_CHECKING:
    from trainferry.cli.subparsers import Subparsers
    from trainferry.train.journal import Ended, Event
    from trainferry.train.recipe.sections import Recipe
    from trainferry.train.run import Run


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "train",
        help="train a recipe, or go on with a run",
        description="Train a recipe on record files. A run that was stopped, even by a crash, "
        "goes on from its last checkpoint when the same command is given again.",
    )
    parser.add_argument("recipe", help="name of a recipe (crnn, resnet50, …) or a .toml file")
    parser.add_argument("--data", type=Path, help="folder with the record files")
    parser.add_argument("--run", dest="folder", type=Path, required=True, help="folder of the run")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or npu")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override a recipe value"
    )
    parser.add_argument(
        "--init-from", type=Path, metavar="RUN", help="start from the weights of another run"
    )
    parser.add_argument(
        "--exclude", action="append", default=[], metavar="PATTERN", help="weights not to take over"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from trainferry.devices.device import choose_device, describe_device
    from trainferry.train.recipe.read import read_recipe

    if arguments.exclude and not arguments.init_from:
        raise UsageError(
            "--exclude says what --init-from leaves out, and there is no --init-from",
            hint="add --init-from RUN, or remove --exclude",
        )
    device = choose_device(arguments.device)
    _say(describe_device(device))
    recipe = read_recipe(arguments.recipe, arguments.set)
    built = _build(arguments, recipe, str(device))
    ended = train_run(built, describe_device(device))
    result = {
        "run": str(built.folder),
        "step": ended.step,
        "reason": ended.reason,
        "seconds": ended.seconds,
        "best_score": built.best_score,
        "best_step": built.best_step,
    }
    if arguments.json:
        print(json.dumps(result, indent=1))
    else:
        best = "" if built.best_score is None else f", best score {built.best_score:.2%}"
        print(f"{built.folder}: {ended.step} steps{best}")
    return 0


def train_run(built: Run, device: str) -> Ended:
    """Train with everything a person or a program may want to see of it."""
    from trainferry.train.run_lock import only_here

    with only_here(built.folder, _say):
        return _train_shown(built, device)


def _train_shown(built: Run, device: str) -> Ended:
    from trainferry.cli.progress import open_show
    from trainferry.train.journal import Journal, Started
    from trainferry.train.loop import train
    from trainferry.train.tensorboard import open_board

    board = open_board(built.folder, built.validation)
    if board is None:
        _say("tensorboard is not installed: curves are in journal.jsonl alone")
    show = open_show(built.recipe.schedule.steps)
    journal = Journal(built.folder)
    outputs = [journal, show, *([board] if board else [])]

    def tell(event: Event) -> None:
        for output in outputs:
            output.write(event)

    try:
        facts = {"samples": len(built.source), "batch": built.recipe.loop.batch}
        tell(Started(built.step, built.recipe.schedule.steps, device, facts))
        return train(built, tell)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_stopped(built)) from None
    finally:
        for output in outputs:
            output.close()


def _build(arguments: argparse.Namespace, recipe: Recipe, device: str) -> Run:
    import torch

    from trainferry.train.build import build_run
    from trainferry.train.loop import resume
    from trainferry.train.transfer import transfer_weights

    built = build_run(recipe, arguments.data, arguments.folder, torch.device(device), _say)
    if resume(built) or arguments.init_from is None:
        return built
    transfer = transfer_weights(built, arguments.init_from, arguments.exclude)
    _say(f"took over {len(transfer.loaded)} tensors from `{arguments.init_from}`")
    for name, reason in transfer.left:
        _say(f"  not taken over: {name}: {reason}")
    for note in transfer.notes:
        _say(f"note: {note}")
    return built


def _stopped(built: Run) -> str:
    from trainferry.train.checkpoint import list_checkpoints

    saved = [int(path.name.removeprefix("step-")) for path in list_checkpoints(built.folder)]
    place = f"the checkpoint of step {saved[-1]}" if saved else "the start: none was saved yet"
    return f"at step {built.step}; the same command goes on from {place}"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
