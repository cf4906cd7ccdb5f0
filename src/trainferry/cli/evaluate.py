"""trainferry evaluate: score one checkpoint of a run, or all of them."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from trainferry.cli.subparsers import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser("evaluate", help="score a run on record files")
    parser.add_argument("folder", metavar="RUN", type=Path, help="folder of the run")
    parser.add_argument("--data", type=Path, required=True, help="folder with the record files")
    parser.add_argument("--split", default="val", help="which record files: val, test, train")
    parser.add_argument("--checkpoint", default="best", help="best, last, or a step")
    parser.add_argument("--all", action="store_true", help="score every checkpoint")
    parser.add_argument("--protocol", default="alnum36", help="what counts as right; see the docs")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or npu")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a recipe value: picture.scale=half scores as the zoo does",
    )
    parser.add_argument("--json", action="store_true", help="print the scores as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from trainferry.devices.device import choose_device, describe_device
    from trainferry.train.checkpoint import find_checkpoint, list_checkpoints
    from trainferry.train.score import choose_protocol

    device = choose_device(arguments.device)
    print(describe_device(device), file=sys.stderr)
    protocol = choose_protocol(arguments.protocol)
    paths = [find_checkpoint(arguments.folder, arguments.checkpoint)]
    if arguments.all:
        paths = list_checkpoints(arguments.folder)
    rows = [_score(path, arguments, device) for path in paths]
    if unreadable := max((row["unreadable"] for row in rows), default=0):
        print(
            f"note: {unreadable:.0f} samples could not be read and are not in the scores; "
            "`trainferry data check` lists them",
            file=sys.stderr,
        )
    if arguments.json:
        print(
            json.dumps({"protocol": protocol.name, "rule": protocol.rule, "rows": rows}, indent=1)
        )
    else:
        _print_table(rows)
        if len(rows) == 1 and rows[0]["confused"]:
            _print_mistakes(rows[0])
        print(f"protocol {protocol.name}: {protocol.rule}", file=sys.stderr)
    return 0


def _score(path: Path, arguments: argparse.Namespace, device: torch.device) -> dict[str, Any]:
    from trainferry.train.checkpoint import read_facts
    from trainferry.train.score_run import passes_over_data, score_checkpoint

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


def _print_table(rows: list[dict[str, Any]]) -> None:
    head = f"{'step':>9}  {'epoch':>7}  {'sequence':>9}  {'character':>9}  {'edit':>7}"
    print(f"{head}  {'loss':>8}  {'samples':>8}  {'left out':>8}  saved")
    for row in rows:
        epoch = "-" if row["epoch"] is None else f"{row['epoch']:.2f}"
        print(
            f"{row['step']:>9}  {epoch:>7}  {row['sequence_accuracy']:>9.2%}  "
            f"{row['character_accuracy']:>9.2%}  {row['edit_similarity']:>7.2%}  "
            f"{row['loss']:>8.4f}  {row['samples']:>8.0f}  {row['left_out']:>8.0f}  "
            f"{row['saved'] or '-'}"
        )


def _print_mistakes(row: dict[str, Any]) -> None:
    confused = ", ".join(
        f"{_shown(each['truth'])} as {_shown(each['read'])} ({each['times']})"
        for each in row["confused"]
    )
    worst = ", ".join(
        f"{each['truth']} as {each['read'] or 'nothing'}" for each in row["worst"][:5]
    )
    print(f"most often read wrong: {confused}")
    print(f"worst words: {worst}")


def _shown(character: str) -> str:
    return character or "(none)"
