"""The part of `trainferry data` that deals with street-name signs."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from trainferry.cli.data_arguments import add_processes, add_to, data_folder, print_result
from trainferry.cli.parser import positive
from trainferry.cli.progress import progress_bar

if TYPE_CHECKING:
    from trainferry.cli.subparsers import Subparsers
    from trainferry.train.recipe.sections import Recipe
    from trainferry.train.recipe.tasks import SpellRecipe

_ON_SHEET = 40


def add_signs(commands: Subparsers) -> None:
    parser = commands.add_parser("signs", help="render French street-name signs in several views")
    parser.add_argument("--count", type=positive, required=True, help="how many signs")
    add_to(parser)
    parser.add_argument("--seed", type=int, default=0, help="other seeds give other signs")
    parser.add_argument(
        "--split",
        choices=("train", "val", "test"),
        default="train",
        help="each has names of its own; val and test have fonts that train has not",
    )
    parser.add_argument("--fonts", type=Path, help="folder of fonts, instead of the bundled ones")
    parser.add_argument(
        "--names", type=Path, metavar="FILE", help="names of streets, one on each line"
    )
    parser.add_argument(
        "--check-sheet", type=Path, metavar="PNG", help="also write a page of signs to look at"
    )
    parser.add_argument("--png", action="store_true", help="PNG as in FSNS (larger, slower)")
    add_processes(parser)
    parser.set_defaults(run=run_signs)


def run_signs(arguments: argparse.Namespace) -> int:
    from trainferry.train.data.render.signs.make import (
        SignsOptions,
        render_signs,
        write_check_sheet,
    )

    options = SignsOptions(
        count=arguments.count,
        seed=arguments.seed,
        split=arguments.split,
        fonts=arguments.fonts,
        names=arguments.names,
        png=arguments.png,
        processes=arguments.processes,
    )
    if arguments.check_sheet:  # first: whoever looks at it need not wait for the rest
        shown = replace(options, count=min(options.count, _ON_SHEET))
        write_check_sheet(shown, arguments.check_sheet)
        print(f"check sheet: {arguments.check_sheet}", file=sys.stderr)
    with progress_bar("signs") as progress:
        report = render_signs(options, arguments.to, progress)
    facts = {
        "count": report.count,
        "files": [str(path) for path in report.files],
        "fonts": report.fonts,
        "refused_fonts": {str(font.path): font.reason for font in report.refused_fonts},
        "left_out_names": report.left_out_names,
        "seconds": round(report.seconds, 3),
    }
    print_result(arguments, facts, report.summary())
    return 0


def add_fsns(commands: Subparsers) -> None:
    parser = commands.add_parser("fsns", help="pack a folder of views of signs with its gt.tsv")
    parser.add_argument(
        "source", type=Path, help="folder with pictures and gt.tsv: `a.png` or `a.png|b.png`, text"
    )
    add_to(parser)
    parser.add_argument("--split", default="train", help="train, val or test")
    parser.add_argument(
        "--charset", type=Path, metavar="FILE", help="codes of the characters (default: FSNS's)"
    )
    parser.add_argument(
        "--views",
        type=positive,
        default=4,
        metavar="N",
        help="places for views in a picture (default: 4; train with picture.views)",
    )
    parser.add_argument(
        "--side",
        type=positive,
        default=150,
        metavar="PIXELS",
        help="of a view (default: 150; train with picture.height and picture.width)",
    )
    parser.add_argument(
        "--longest",
        type=positive,
        default=37,
        metavar="N",
        help="characters of a text, at most (default: 37; train with task.max_length)",
    )
    add_processes(parser)
    parser.set_defaults(run=run_fsns)


def run_fsns(arguments: argparse.Namespace) -> int:
    from trainferry.train.data.signs.fsns import FsnsOptions, pack_fsns

    options = FsnsOptions(
        split=arguments.split,
        charset=arguments.charset,
        processes=arguments.processes,
        views=arguments.views,
        side=arguments.side,
        longest=arguments.longest,
    )
    with progress_bar("signs") as progress:
        report = pack_fsns(arguments.source, arguments.to, options, progress)
    print_result(arguments, report.to_json(), report.summary())
    return 0


def check_texts(arguments: argparse.Namespace, recipe: Recipe, task: SpellRecipe) -> int:
    """Tell what of the signs a recipe would train on."""
    from trainferry.train.build import complete_recipe
    from trainferry.train.data.signs.check import check_signs
    from trainferry.train.data.signs.records import find_signs
    from trainferry.train.signs import open_signs

    source: Path = arguments.source
    paths = [source] if source.is_file() else find_signs(source, arguments.split)
    records = open_signs(complete_recipe(recipe, data_folder(source)), paths)
    with progress_bar("records") as progress:
        check = check_signs(
            records,
            max_length=task.max_length,
            pictures=not arguments.labels_only,
            processes=arguments.processes,
            progress=progress,
        )
    print_result(arguments, check.to_json(), check.summary())
    return 0 if len(check.kept) else 1


def find_text_records(folder: Path, split: str) -> list[Path]:
    """Return the files of a split, or of all, of words or signs; those of FSNS have other names."""
    from trainferry.train.data.signs.records import find_fsns
    from trainferry.train.data.tfrecord import find_records

    splits = [split] if split else ["train", "val", "test"]
    found = [path for one in splits for path in find_fsns(folder, one)]
    return found or find_records(folder, split)
