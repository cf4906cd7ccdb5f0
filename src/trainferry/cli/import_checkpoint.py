"""trainferry import-checkpoint: make a run out of a TensorFlow checkpoint."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainferry.errors import UsageError

if TYPE_CHECKING:
    from trainferry.cli.subparsers import Subparsers
    from trainferry.train.recipe_sections import Recipe
    from trainferry.train.tf_checkpoint.bundle import TensorFlowCheckpoint
    from trainferry.train.tf_checkpoint.load import ImportedWeights


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "import-checkpoint", help="make a run out of a TensorFlow checkpoint"
    )
    parser.add_argument(
        "checkpoint",
        type=Path,
        metavar="CKPT",
        help="model.ckpt-100, a folder with a `checkpoint` file, or a SavedModel folder",
    )
    parser.add_argument("--list", action="store_true", help="show names, types and shapes, no more")
    parser.add_argument("--recipe", help="recipe of the run: a name or a .toml file")
    parser.add_argument("--to", type=Path, metavar="RUN", help="folder of the run; must be new")
    parser.add_argument(
        "--alphabet", type=Path, metavar="FILE", help="the ord_map.json of the weights"
    )
    parser.add_argument(
        "--origin",
        choices=("upstream", "zoo"),
        help="who trained it: CRNN_Tensorflow (BGR pictures) or the Ascend model zoo (RGB)",
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override a recipe value"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from trainferry.train.tf_checkpoint.bundle import read_checkpoint

    if not arguments.list and (arguments.recipe is None or arguments.to is None):
        raise UsageError(
            "import-checkpoint needs --recipe and --to",
            hint="for example --recipe crnn --to runs/imported; or --list to see what is in it",
        )
    checkpoint = read_checkpoint(arguments.checkpoint)
    if arguments.list:
        _print_list(checkpoint, as_json=arguments.json)
        return 0
    report = _import(checkpoint, arguments)
    if arguments.json:
        print(json.dumps(report, indent=1, ensure_ascii=False))
    else:
        print("\n".join(_report_lines(report)))
    return 0


def _import(checkpoint: TensorFlowCheckpoint, arguments: argparse.Namespace) -> dict[str, Any]:
    from trainferry.train.data.alphabet import read_alphabet
    from trainferry.train.recipe import override_recipe, read_recipe
    from trainferry.train.recipe_sections import check_recipe
    from trainferry.train.tf_checkpoint.load import import_crnn
    from trainferry.train.tf_checkpoint.to_run import adapt_recipe, choose_origin, write_run

    imported = import_crnn(checkpoint)
    origin = choose_origin(imported, arguments.origin)
    alphabet = read_alphabet(arguments.alphabet) if arguments.alphabet else None
    recipe = adapt_recipe(read_recipe(arguments.recipe), origin, alphabet)
    for override in arguments.set:
        recipe = override_recipe(recipe, override)
    check_recipe(recipe)
    saved = write_run(imported, recipe, arguments.to, f"{origin}: {checkpoint.prefix.name}")
    for note in _notes(imported, recipe, arguments):
        print(f"note: {note}", file=sys.stderr)
    return {
        "checkpoint": str(checkpoint.prefix),
        "run": str(arguments.to),
        "saved": str(saved),
        "origin": origin,
        "cells": imported.cells,
        "step": imported.step,
        "alphabet": recipe.task.alphabet,
        "read": len(checkpoint.names()),
        "mapped": len(imported.mapped),
        "weights": len(imported.weights),
        "momentum": len(imported.momentum or {}),
        "averages": len(imported.averages or {}),
        "ignored": imported.ignored,
        "unmatched": imported.unmatched,
        "missing": imported.missing,
    }


def _notes(
    imported: ImportedWeights, recipe: Recipe, arguments: argparse.Namespace
) -> Iterator[str]:
    if arguments.alphabet is None:
        yield (
            f"the order of the classes is the recipe's, `{recipe.task.alphabet}`; a checkpoint "
            "reads rubbish with another order than its own: pass its ord_map.json with --alphabet"
        )
    if imported.momentum and recipe.optimizer.name != "momentum":
        yield f"the momentum is left out: the recipe trains with {recipe.optimizer.name}"
    if imported.averages:
        yield "the averaged weights are those that evaluate, predict and export use"
    if (imported.step or 0) >= recipe.schedule.steps:
        yield (
            f"the checkpoint is at step {imported.step}, the recipe ends at "
            f"{recipe.schedule.steps}: to train further, start a new run with --init-from"
        )


def _print_list(checkpoint: TensorFlowCheckpoint, *, as_json: bool) -> None:
    rows = [
        {"name": name, "type": checkpoint.dtype(name), "shape": list(checkpoint.shape(name))}
        for name in checkpoint.names()
    ]
    if as_json:
        print(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    width = max((len(str(row["name"])) for row in rows), default=0)
    for row in rows:
        print(f"{row['name']:<{width}}  {row['type']:<10}  {row['shape']}")
    print(f"{len(rows)} tensors in {checkpoint.prefix}")


def _report_lines(report: dict[str, Any]) -> Iterator[str]:
    yield f"read       {report['read']:4} tensors of {report['checkpoint']}, step {report['step']}"
    yield (
        f"mapped     {report['mapped']:4} to {report['weights']} weights, "
        f"{report['momentum']} momenta, {report['averages']} averages and the step"
    )
    yield f"ignored    {len(report['ignored']):4}"
    for name, reason in report["ignored"].items():
        yield f"             {name}: {reason}"
    yield f"unmatched  {len(report['unmatched']):4}"
    for name in report["unmatched"]:
        yield f"             {name}: not a variable of the CRNN"
    yield f"missing    {len(report['missing']):4}"
    yield f"saved      {report['saved']}"
