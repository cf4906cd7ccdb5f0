"""trainferry evaluate: score one checkpoint of a run, or all of them."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainferry.cli.evaluate_classes import (
    FEW_CLASSES,
    class_averages,
    class_table,
    confused_classes,
)
from trainferry.cli.evaluate_table import photo_table, word_table
from trainferry.cli.evaluate_texts import text_mistakes
from trainferry.counted import counted
from trainferry.errors import UsageError

if TYPE_CHECKING:
    import torch

    from trainferry.cli.subparsers import Subparsers
    from trainferry.train.scores.words import Protocol


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "evaluate",
        help="score a run on record files",
        description="Score a run on record files, and show what it gets wrong. Every sample "
        "counts once, whatever the batch size.",
    )
    parser.add_argument("folder", metavar="RUN", type=Path, help="folder of the run")
    parser.add_argument("--data", type=Path, required=True, help="folder with the record files")
    parser.add_argument(
        "--split", default="val", help="which record files: val, test or train (default: val)"
    )
    parser.add_argument(
        "--checkpoint", default="best", help="best, last, or a step (default: best)"
    )
    parser.add_argument("--all", action="store_true", help="score every checkpoint")
    parser.add_argument(
        "--protocol",
        help="of words: what counts as right: alnum36 (usual for Latin letters), alnum36-min3, "
        "exact (usual for other scripts), zoo or zoo-synth90k",
    )
    parser.add_argument(
        "--per-class",
        action="store_true",
        help=f"of photographs: a line for every class, as is usual up to {FEW_CLASSES} of them",
    )
    parser.add_argument(
        "--confusion",
        type=Path,
        metavar="FILE",
        help="of photographs: draw which class is taken for which, as a PNG",
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or npu")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a recipe value: picture.scale=half scores as the zoo does",
    )
    parser.add_argument("--json", action="store_true", help="print the scores as JSON")
    parser.set_defaults(run=run, computes=True)


def run(arguments: argparse.Namespace) -> int:
    from trainferry.devices.device import choose_device, describe_device
    from trainferry.devices.fallbacks import describe_fallbacks, hear_fallbacks
    from trainferry.train.checkpoint import find_checkpoint, list_checkpoints
    from trainferry.train.scores.words import choose_protocol

    if arguments.protocol is not None:
        choose_protocol(arguments.protocol)
    device = choose_device(arguments.device)
    print(describe_device(device), file=sys.stderr)
    paths = [find_checkpoint(arguments.folder, arguments.checkpoint)]
    if arguments.all:
        paths = list_checkpoints(arguments.folder)
    protocol = _find_protocol(arguments)
    with hear_fallbacks(device) as fallbacks:
        rows = [_score(path, arguments, device) for path in paths]
        on_cpu = fallbacks.operators()
    _tell_what_is_missing(rows, protocol)
    if note := describe_fallbacks(on_cpu):
        print(f"note: {note}", file=sys.stderr)
    if arguments.json:
        rule = {} if protocol is None else {"protocol": protocol.name, "rule": protocol.rule}
        facts = {**rule, "rows": rows, "cpu_operators": on_cpu}
        print(json.dumps(facts, indent=1, ensure_ascii=False))
    elif protocol is not None:
        _print_lines(word_table(rows))
        if not arguments.all and rows[0]["confused"]:
            _print_lines(text_mistakes(rows[0]))
        print(f"protocol {protocol.name}: {protocol.rule}", file=sys.stderr)
    else:
        _print_lines(photo_table(rows))
        if not arguments.all:
            _print_classes(rows[0], per_class=arguments.per_class)
    if arguments.confusion is not None:
        _draw_confusion(rows[0], arguments.confusion)
    return 0


def _find_protocol(arguments: argparse.Namespace) -> Protocol | None:
    """Return the protocol of words, None for photographs; refuse options of the other kind."""
    from trainferry.train.run_folder import saved_recipe
    from trainferry.train.scores.run import find_protocol

    protocol = find_protocol(saved_recipe(arguments.folder), arguments.protocol)
    if protocol is not None and (arguments.per_class or arguments.confusion):
        raise UsageError(
            "this run reads words: they have no classes to tell apart",
            hint="leave --per-class and --confusion out; confused characters are always told",
        )
    if arguments.all and (arguments.per_class or arguments.confusion):
        raise UsageError(
            "--per-class and --confusion look at one checkpoint",
            hint="leave --all out, or --per-class and --confusion; --json tells it of all",
        )
    return protocol


def _score(path: Path, arguments: argparse.Namespace, device: torch.device) -> dict[str, Any]:
    from trainferry.train.checkpoint import read_facts
    from trainferry.train.scores.run import passes_over_data, score_checkpoint

    started = time.monotonic()
    scores = score_checkpoint(
        path, arguments.data, arguments.split, arguments.protocol, device, arguments.set
    )
    facts = read_facts(path)
    return {
        "step": facts["step"],
        "epoch": passes_over_data(path),
        **scores.values,
        **scores.details,
        "saved": facts.get("saved"),
        "seconds": round(time.monotonic() - started, 1),
    }


def _tell_what_is_missing(rows: list[dict[str, Any]], protocol: Protocol | None) -> None:
    if unreadable := max((row["unreadable"] for row in rows), default=0):
        print(
            f"note: {counted(round(unreadable), 'sample')} could not be read, left out of the "
            "scores; `trainferry data check` lists all that cannot",
            file=sys.stderr,
        )
    left_out = max((row["left_out"] for row in rows), default=0)
    if protocol is None and left_out:
        print(
            f"note: {counted(round(left_out), 'sample')} of no class that the network knows, left "
            "out of the scores",
            file=sys.stderr,
        )


def _print_classes(row: dict[str, Any], *, per_class: bool) -> None:
    seen = [each for each in row["classes"] if each["samples"]]
    if per_class or len(seen) <= FEW_CLASSES:
        _print_lines(["", *class_table(row)])
    _print_lines(["", *class_averages(row)])
    if row["confused"]:
        _print_lines(["", *confused_classes(row)])


def _draw_confusion(row: dict[str, Any], path: Path) -> None:
    from trainferry.train.scores.confusion_picture import confusion_picture

    confusion_picture(row["classes"], row["confused"], path)
    print(f"drew {path}", file=sys.stderr)


def _print_lines(lines: list[str]) -> None:
    for line in lines:
        print(line)
