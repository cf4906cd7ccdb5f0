"""trainferry quickstart: the tour, on this machine.

A TensorFlow project is migrated; then it goes from fonts to a network that reads.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from trainferry.cli.subparsers import Subparsers
    from trainferry.migrate.migration import Migration

TRAIN_WORDS = 12_000
HELD_OUT_WORDS = 500
SHOWN_WORDS = 30
SHOWN_CHANGES = 10


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "quickstart",
        help="the tour: migrate a small project, train a small network",
        description="Migrates a small TensorFlow project, renders words, trains a small CRNN on "
        "them, scores it on words it has not seen, exports it, and draws what it reads. A few "
        "minutes on two CPU cores.",
    )
    parser.add_argument("--to", type=Path, default=Path("quickstart"), help="folder to work in")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or npu")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override a recipe value"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run, computes=True, takes_long=True)


def run(arguments: argparse.Namespace) -> int:
    from trainferry.devices.device import choose_device, describe_device

    started = time.monotonic()
    device = choose_device(arguments.device)
    _say(describe_device(device))
    folder: Path = arguments.to
    _chapter(1, "migrate a project", f"trainferry migrate {folder / 'project'} --to …")
    _migrate(folder)
    _chapter(2, "render words", f"trainferry data words --style plain --to {folder / 'data'}")
    _render(folder / "data")
    _chapter(3, "train", f"trainferry train crnn_small --data {folder / 'data'} --run …")
    _train(arguments, device)
    _chapter(4, "score words it has not seen", f"trainferry evaluate {folder / 'run'} …")
    scores = _score(folder, device)
    _chapter(5, "export", f"trainferry export {folder / 'run'} --to {folder / 'words.onnx'}")
    _export(folder, device)
    _chapter(6, "look", f"trainferry predict {folder / 'run'} PICTURE… --grid …")
    _draw(folder, device)
    return _tell(arguments, folder, scores, time.monotonic() - started)


def _migrate(folder: Path) -> None:
    from trainferry.migrate.launch_kit import launch_kit
    from trainferry.migrate.options import Options
    from trainferry.migrate.pipeline import migrate_project
    from trainferry.migrate.report.html import html_report
    from trainferry.migrate.report.text import text_report
    from trainferry.migrate.write import write_tree

    project, migrated = folder / "project", folder / "migrated"
    project.mkdir(parents=True, exist_ok=True)
    bundled = Path(__file__).with_name("quickstart_project.txt")
    (project / "train.py").write_bytes(bundled.read_bytes())
    migration = migrate_project(project, Options())
    for line in _changed_lines(migration)[:SHOWN_CHANGES]:
        _say(line)
    _say(text_report(migration, colour=False).partition("\n\n")[0])
    if not migrated.exists():
        write_tree(migration, migrated, launch_kit(migration))
    report = folder / "migration.html"
    report.write_text(html_report(migration), encoding="utf-8")
    _say(f"every change with its reason: {report}")


def _changed_lines(migration: Migration) -> list[str]:
    """The lines that go and come, without the imports that come with them."""
    lines = [line for file in migration.changed for line in file.diff().splitlines()]
    left_out = ("---", "+++", "+from ", "+import ")
    return [line for line in lines if line[:1] in "+-" and not line.startswith(left_out)]


def _render(data: Path) -> None:
    from trainferry.cli.progress import progress_bar
    from trainferry.train.data.render.words.make import WordsOptions, render_words
    from trainferry.train.data.tfrecord import has_records

    for split, count, seed in (("train", TRAIN_WORDS, 0), ("val", HELD_OUT_WORDS, 1)):
        if has_records(data, split):
            _say(f"{split}: already there")
            continue
        options = WordsOptions(count=count, seed=seed, split=split, style="plain")
        with progress_bar(f"{split} words") as progress:
            _say(render_words(options, data, progress).summary())


def _train(arguments: argparse.Namespace, device: torch.device) -> None:
    from trainferry.cli.train import train_run
    from trainferry.devices.device import describe_device
    from trainferry.devices.fallbacks import hear_fallbacks
    from trainferry.train.build import build_run
    from trainferry.train.loop import resume
    from trainferry.train.recipe.read import read_recipe
    from trainferry.train.stop import exit_status

    recipe = read_recipe("crnn_small", arguments.set)
    with hear_fallbacks(device) as fallbacks:
        built = build_run(recipe, arguments.to / "data", arguments.to / "run", device, _say)
        resume(built)
        ended = train_run(built, describe_device(device), fallbacks)
    if status := exit_status(ended.reason):
        sys.exit(status)


def _score(folder: Path, device: torch.device) -> dict[str, float]:
    from trainferry.train.checkpoint import find_checkpoint
    from trainferry.train.scores.run import score_checkpoint

    path = find_checkpoint(folder / "run", "best")
    scores = score_checkpoint(path, folder / "data", "val", "alnum36", device).values
    _say(
        f"{scores['sequence_accuracy']:.1%} of {scores['samples']:.0f} held-out words read without "
        f"a mistake, {scores['character_accuracy']:.1%} of their characters"
    )
    return scores


def _export(folder: Path, device: torch.device) -> None:
    from trainferry.train.build import open_run
    from trainferry.train.export.export import export_run

    report = export_run(
        open_run(folder / "run", device=device), folder / "words.onnx", data=folder / "data"
    )
    _say(report.summary())


def _draw(folder: Path, device: torch.device) -> None:
    from trainferry.train.build import open_run
    from trainferry.train.predict.picture_grid import draw_readings
    from trainferry.train.words import evaluation_source

    opened = open_run(folder / "run", device=device)
    source = evaluation_source(opened.recipe, folder / "data", "val", "exact")
    draw_readings(opened, source, SHOWN_WORDS, folder / "what_it_reads.png")


def _tell(
    arguments: argparse.Namespace, folder: Path, scores: dict[str, float], seconds: float
) -> int:
    result = {
        "sequence_accuracy": scores["sequence_accuracy"],
        "character_accuracy": scores["character_accuracy"],
        "samples": scores["samples"],
        "seconds": round(seconds, 1),
        "migrated": str(folder / "migrated"),
        "run": str(folder / "run"),
        "picture": str(folder / "what_it_reads.png"),
        "onnx": str(folder / "words.onnx"),
    }
    if arguments.json:
        print(json.dumps(result, indent=1))
        return 0
    print(f"{scores['sequence_accuracy']:.1%} of the held-out words read, in {seconds:.0f} s")
    print(f"migrated:      {result['migrated']}, a TensorFlow project for NPUs")
    print(f"what it reads: {result['picture']}")
    print(f"the network:   {result['run']}, and for serving {result['onnx']}")
    print("next: README.md, or `trainferry data folder` with word pictures of your own")
    return 0


def _chapter(number: int, title: str, command: str) -> None:
    bold, plain = ("\033[1m", "\033[0m") if sys.stderr.isatty() else ("", "")
    _say(f"\n{bold}{number}. {title}{plain}   $ {command}")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
