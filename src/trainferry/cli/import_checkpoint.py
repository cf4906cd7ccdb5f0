"""trainferry import-checkpoint: make a run out of a TensorFlow checkpoint."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainferry.counted import counted
from trainferry.errors import CheckpointError, UsageError

if TYPE_CHECKING:
    from trainferry.cli.subparsers import Subparsers
    from trainferry.train.recipe.sections import Recipe
    from trainferry.train.tf_checkpoint.load import ImportedWeights
    from trainferry.train.tf_checkpoint.read import TensorFlowCheckpoint


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "import-checkpoint",
        help="turn a TensorFlow checkpoint into a run",
        description="Turn a TensorFlow checkpoint into a run that can be scored, exported or "
        "trained further. TensorFlow is not needed.",
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
        "--alphabet",
        type=Path,
        metavar="FILE",
        help="the ord_map.json of a CRNN, or the charset file of Attention-OCR (default: FSNS's)",
    )
    parser.add_argument(
        "--classes",
        type=Path,
        metavar="FILE",
        help="names of the classes, one a line, or a classes.json",
    )
    parser.add_argument(
        "--origin",
        choices=("upstream", "zoo"),
        help="who trained a CRNN: CRNN_Tensorflow (BGR pictures) or the Ascend model zoo (RGB)",
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override a recipe value"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from trainferry.train.tf_checkpoint.read import read_checkpoint

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
    from trainferry.train.recipe.read import read_recipe
    from trainferry.train.tf_checkpoint.load import import_network
    from trainferry.train.tf_checkpoint.to_run import check_complete, write_run

    recipe = read_recipe(arguments.recipe, arguments.set)
    task = recipe.task.name
    _check_options(arguments, task)
    imported = import_network(checkpoint, recipe.network)
    check_complete(imported)
    adapt = {"recognise": _for_words, "classify": _for_photos, "spell": _for_signs}[task]
    recipe, facts = adapt(recipe, imported, arguments)
    origin = f"{facts['origin']}: " if "origin" in facts else ""
    saved = write_run(imported, recipe, arguments.to, origin + checkpoint.prefix.name)
    for note in _notes(imported, recipe, arguments):
        print(f"note: {note}", file=sys.stderr)
    return {
        "checkpoint": str(checkpoint.prefix),
        "run": str(arguments.to),
        "saved": str(saved),
        **facts,
        "step": imported.step,
        "read": len(checkpoint.names()),
        "mapped": len(imported.mapped),
        "weights": len(imported.weights) - len(imported.made),
        "momentum": len(imported.momentum or {}),
        "averages": len(imported.averages or {}),
        "ignored": imported.ignored,
        "unmatched": imported.unmatched,
        "missing": imported.missing,
    }


def _check_options(arguments: argparse.Namespace, task: str) -> None:
    """Refuse what would have no effect."""
    meant = {
        "classes": ("photographs", ("classify",)),
        "alphabet": ("words and signs", ("recognise", "spell")),
        "origin": ("words", ("recognise",)),
    }
    for option, (kind, tasks) in meant.items():
        if getattr(arguments, option) is not None and task not in tasks:
            raise UsageError(
                f"--{option} is for networks of {kind}, which `{arguments.recipe}` is not",
                hint=f"leave --{option} out, or pass another --recipe",
            )


def _for_words(
    recipe: Recipe, imported: ImportedWeights, arguments: argparse.Namespace
) -> tuple[Recipe, dict[str, Any]]:
    """Return the recipe with the pictures and classes of a CRNN; `--set` has the last word."""
    from trainferry.train.data.words.alphabet import read_alphabet
    from trainferry.train.recipe.check import check_recipe
    from trainferry.train.recipe.read import override_recipe, read_recipe
    from trainferry.train.recipe.tasks import RecogniseRecipe
    from trainferry.train.tf_checkpoint.to_run import adapt_recipe, choose_origin

    origin = choose_origin(imported, arguments.origin)
    alphabet = read_alphabet(arguments.alphabet) if arguments.alphabet else None
    recipe = adapt_recipe(read_recipe(arguments.recipe), origin, alphabet)
    for override in arguments.set:
        recipe = override_recipe(recipe, override)
    check_recipe(recipe)
    assert isinstance(recipe.task, RecogniseRecipe)
    facts = {"network": "a crnn", "origin": origin, "cells": imported.cells}
    return recipe, {**facts, "alphabet": recipe.task.alphabet}


def _for_photos(
    recipe: Recipe, imported: ImportedWeights, arguments: argparse.Namespace
) -> tuple[Recipe, dict[str, Any]]:
    """Return the recipe with the classes of the checkpoint."""
    from trainferry.train.recipe.tasks import ClassifyRecipe
    from trainferry.train.tf_checkpoint.classes import read_class_names, with_class_names
    from trainferry.train.tf_checkpoint.guess import describe_network

    names = read_class_names(arguments.classes) if arguments.classes else None
    recipe = with_class_names(recipe, imported.classes, names)
    assert isinstance(recipe.task, ClassifyRecipe)
    facts = {"network": describe_network(recipe.network), "classes": len(recipe.task.classes)}
    return recipe, {**facts, "background": recipe.task.background}


def _for_signs(
    recipe: Recipe, imported: ImportedWeights, arguments: argparse.Namespace
) -> tuple[Recipe, dict[str, Any]]:
    """Return the recipe with the characters of the checkpoint: those given, or those of FSNS."""
    from trainferry.train.data.signs.charset import fsns_charset, read_charset
    from trainferry.train.signs import with_charset
    from trainferry.train.tf_checkpoint.guess import describe_network

    charset = read_charset(arguments.alphabet) if arguments.alphabet else fsns_charset()
    if charset.classes != imported.classes:
        raise CheckpointError(
            f"the checkpoint has {imported.classes} classes, the charset {charset.classes}",
            hint="pass the charset file the weights were trained with: --alphabet charset.txt",
        )
    facts = {"network": describe_network(recipe.network), "classes": charset.classes}
    return with_charset(recipe, charset), facts


def _notes(
    imported: ImportedWeights, recipe: Recipe, arguments: argparse.Namespace
) -> Iterator[str]:
    from trainferry.train.recipe.tasks import ClassifyRecipe, RecogniseRecipe

    schedule = recipe.schedule
    if isinstance(recipe.task, RecogniseRecipe):
        if arguments.alphabet is None:
            yield (
                f"the order of the classes is the recipe's, `{recipe.task.alphabet}`; a checkpoint "
                "reads rubbish with another order than its own: pass its ord_map.json with "
                "--alphabet"
            )
    elif isinstance(recipe.task, ClassifyRecipe) and arguments.classes is None:
        yield (
            f"the {len(recipe.task.classes)} classes are called `{recipe.task.classes[0]}` and so "
            "on; to name them, pass --classes with a name a line, or the classes.json of the data"
        )
    if imported.momentum and recipe.optimizer.name != imported.optimizer:
        yield f"the momentum is left out: the recipe trains with {recipe.optimizer.name}"
    if imported.averages:
        yield "the averaged weights are those that evaluate, predict and export use"
    if imported.made:
        yield (
            f"the checkpoint lacks {counted(len(imported.made), 'value')} that moving means keep "
            "for themselves: the means go on from where they are"
        )
    if not schedule.epochs and (imported.step or 0) >= schedule.steps:
        yield (
            f"the checkpoint is at step {imported.step}, the recipe ends at "
            f"{schedule.steps}: to train further, start a new run with --init-from"
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
    print(f"{counted(len(rows), 'tensor')} in {checkpoint.prefix}")


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
        yield f"             {name}: not a variable of the network"
    yield f"missing    {len(report['missing']):4}"
    yield f"saved      {report['saved']}"
