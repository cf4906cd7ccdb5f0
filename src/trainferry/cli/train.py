"""trainferry train: train a recipe on record files, or go on with a run."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from trainferry.counted import counted
from trainferry.devices.segments import let_segments_grow, start_again_where_refused
from trainferry.errors import UsageError

if TYPE_CHECKING:
    import torch

    from trainferry.cli.subparsers import Subparsers
    from trainferry.devices.collectives import Group
    from trainferry.devices.fallbacks import Fallbacks
    from trainferry.train.debug.switches import Switch
    from trainferry.train.journal import Ended, Event
    from trainferry.train.recipe.sections import Recipe
    from trainferry.train.run import Run
    from trainferry.train.stop import Stop


_NOTHING_RIGHT = (
    "not one validation sample was answered right: the run was too short, or something does not "
    "fit; add --debug one-batch to the command to try whether data, labels and network do"
)


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "train",
        help="train a network, or go on with a run that was stopped",
        description="Train a recipe on record files. A run that was stopped, even by a crash, "
        "goes on from its last checkpoint when the same command is given again.",
    )
    parser.add_argument(
        "recipe", metavar="RECIPE", help="name of a recipe (crnn, resnet50, …) or a .toml file"
    )
    parser.add_argument("--data", type=Path, help="folder with the record files")
    parser.add_argument("--run", dest="folder", type=Path, required=True, help="folder of the run")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or npu")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override a recipe value"
    )
    parser.add_argument(
        "--init-from",
        type=Path,
        metavar="RUN",
        help="start from the weights of another run, or of a TensorFlow checkpoint",
    )
    parser.add_argument(
        "--exclude", action="append", default=[], metavar="PATTERN", help="weights not to take over"
    )
    parser.add_argument(
        "--debug",
        action="append",
        default=[],
        metavar="WHAT",
        help="overflow, dump=STEPS:LAYERS or profile=START:COUNT look into the run; "
        "one-batch=STEPS only tries whether it can learn one batch by heart; see the guide on "
        "debugging",
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run, computes=True, takes_long=True)


def run(arguments: argparse.Namespace) -> int:
    let_segments_grow()
    from trainferry.devices.device import describe_device
    from trainferry.devices.fallbacks import hear_fallbacks
    from trainferry.devices.joining import join
    from trainferry.devices.place import choose_rank_device, find_place
    from trainferry.train.debug.switches import parse_one_batch, parse_switches
    from trainferry.train.ranks import check_split
    from trainferry.train.recipe.read import read_recipe
    from trainferry.train.stop import exit_status

    if arguments.exclude and not arguments.init_from:
        raise UsageError(
            "--exclude says what --init-from leaves out, and there is no --init-from",
            hint="add --init-from RUN, or remove --exclude",
        )
    one_batch = parse_one_batch(arguments.debug)
    switches = parse_switches(arguments.debug) if one_batch is None else ()
    place = find_place()
    say = _say if place.rank == 0 else _say_nothing
    device = choose_rank_device(arguments.device, place)
    start_again_where_refused(device, say)
    say(describe_device(device))
    recipe = read_recipe(arguments.recipe, arguments.set)
    if one_batch is not None:
        return _learn_one_batch(arguments, recipe, device, one_batch.steps, place.ranks)
    check_split(recipe, place.ranks)
    with hear_fallbacks(device) as fallbacks, join(place, device) as group:
        if not group.is_alone:
            batch = recipe.loop.batch
            each = batch // group.ranks
            say(f"{group.ranks} ranks, batch {batch} = {group.ranks} x {each}, {group.library}")
        recipe = _as_started(arguments, recipe, group, say)
        built = _build(arguments, recipe, device, group, say)
        ended = train_run(built, describe_device(device), fallbacks, switches)
    if place.rank == 0:
        if built.best_score == 0 and exit_status(ended.reason) == 0:
            _say(_NOTHING_RIGHT)
        _print_result(arguments, built, ended)
    return exit_status(ended.reason)


def _learn_one_batch(
    arguments: argparse.Namespace, recipe: Recipe, device: torch.device, steps: int, ranks: int
) -> int:
    from trainferry.cli.train_one_batch import learn_one_batch
    from trainferry.devices.collectives import ALONE

    if ranks > 1:
        raise UsageError(
            f"one batch is learnt by one process, and here are {ranks} ranks",
            hint="give the command without `launch`, and --set loop.batch=… that one device holds",
        )
    recipe = _as_started(arguments, recipe, ALONE, _say)
    return learn_one_batch(arguments, recipe, device, steps)


def _print_result(arguments: argparse.Namespace, built: Run, ended: Ended) -> None:
    result = {
        "run": str(built.folder),
        "step": ended.step,
        "reason": ended.reason,
        "seconds": ended.seconds,
        "best_score": built.best_score,
        "best_step": built.best_step,
        "cpu_operators": ended.cpu_operators,
    }
    if arguments.json:
        print(json.dumps(result, indent=1, ensure_ascii=False))
    else:
        best = "" if built.best_score is None else f", best score {built.best_score:.2%}"
        print(f"{built.folder}: {counted(ended.step, 'step')}{best}")


def train_run(
    built: Run, device: str, fallbacks: Fallbacks, switches: Sequence[Switch] = ()
) -> Ended:
    """Train with everything a person or a program may want to see of it.

    Of several ranks, only the first shows and writes anything.
    """
    from trainferry.train.debug.attach import attach_observers
    from trainferry.train.loop import train
    from trainferry.train.run_lock import only_here
    from trainferry.train.stop import Stop

    with Stop(built.group, _say if built.group.is_first else _say_nothing) as stop:
        if not built.group.is_first:
            with contextlib.closing(attach_observers(built, switches, _tell_nobody)) as observers:
                return train(built, _tell_nobody, observers, why_stop=stop.reason)
        with only_here(built.folder, _say):
            return _train_shown(built, device, fallbacks, switches, stop)


def _train_shown(
    built: Run, device: str, fallbacks: Fallbacks, switches: Sequence[Switch], stop: Stop
) -> Ended:
    from trainferry.cli.progress import open_show
    from trainferry.train.debug.attach import attach_observers
    from trainferry.train.journal import Ended, Journal, Started
    from trainferry.train.loop import train
    from trainferry.train.stop import exit_status
    from trainferry.train.tensorboard import open_board

    board = open_board(built.folder, built.validation)
    if board is None:
        _say("tensorboard is not installed: curves are in journal.jsonl alone")
    show = open_show(built.recipe.schedule.steps)
    journal = Journal(built.folder)
    outputs = [journal, show, *([board] if board else [])]

    def tell(event: Event) -> None:
        if isinstance(event, Ended):
            event = replace(event, cpu_operators=fallbacks.operators())
        for output in outputs:
            output.write(event)

    try:
        facts = {
            "samples": len(built.source),
            "batch": built.recipe.loop.batch,
            "ranks": built.group.ranks,
        }
        tell(Started(built.step, built.recipe.schedule.steps, device, facts))
        with contextlib.closing(attach_observers(built, switches, tell)) as observers:
            ended = train(built, tell, observers, stop.reason)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_stopped(built)) from None
    finally:
        for output in outputs:
            output.close()
    if exit_status(ended.reason):
        _say(f"the same command goes on from step {ended.step}")
    return replace(ended, cpu_operators=fallbacks.operators())


def _as_started(
    arguments: argparse.Namespace, recipe: Recipe, group: Group, say: Callable[[str], None]
) -> Recipe:
    """Let a run that is older than a key go on as before, unless --set says otherwise."""
    from trainferry.train.recipe.read import read_recipe, recipe_differences
    from trainferry.train.run_folder import values_before

    before = group.ask_first(lambda: values_before(arguments.folder, recipe))
    if not before:
        return recipe
    started = read_recipe(arguments.recipe, [*before, *arguments.set])
    for key, (was, now) in recipe_differences(started, recipe).items():
        say(f"{key} stays {was!r}: this run began before recipe `{recipe.name}` said {now!r}")
    return started


def _build(
    arguments: argparse.Namespace,
    recipe: Recipe,
    device: torch.device,
    group: Group,
    say: Callable[[str], None],
) -> Run:
    from trainferry.train.build import build_run
    from trainferry.train.loop import resume
    from trainferry.train.ranks import share_weights

    built = build_run(recipe, arguments.data, arguments.folder, device, say, group)
    resumed = resume(built)
    if arguments.init_from is None:
        return built
    if resumed:
        say("--init-from counted when this run began: it goes on from its own checkpoint")
    else:
        group.ask_first(lambda: take_over_weights(arguments, built))
        share_weights(built)
    return built


def take_over_weights(arguments: argparse.Namespace, built: Run) -> None:
    """Load the weights of `--init-from`, and tell which were not taken over."""
    from trainferry.train.transfer import transfer_weights

    transfer = transfer_weights(built, arguments.init_from, arguments.exclude)
    _say(f"took over {counted(len(transfer.loaded), 'tensor')} from `{arguments.init_from}`")
    for name, reason in transfer.left:
        _say(f"  not taken over: {name}: {reason}")
    for note in transfer.notes:
        _say(f"note: {note}")


def _stopped(built: Run) -> str:
    from trainferry.train.checkpoint import list_checkpoints

    saved = [int(path.name.removeprefix("step-")) for path in list_checkpoints(built.folder)]
    place = f"the checkpoint of step {saved[-1]}" if saved else "the start: none was saved yet"
    return f"at step {built.step}; the same command goes on from {place}"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _say_nothing(_text: str) -> None:
    """Leave the talking to rank 0."""


def _tell_nobody(_event: Event) -> None:
    """Leave journal, board and bar to rank 0."""
