"""trainferry data: make record files, look into them, and unpack them."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from trainferry.cli.data_arguments import (
    add_layout,
    add_processes,
    add_to,
    data_folder,
    print_result,
)
from trainferry.cli.data_folder import add_folder
from trainferry.cli.data_lmdb import add_lmdb
from trainferry.cli.data_photos import add_imagenet, check_classes, holds_photos, unpack_classes
from trainferry.cli.data_signs import add_fsns, add_signs, check_texts, find_text_records
from trainferry.cli.parser import positive
from trainferry.cli.progress import progress_bar
from trainferry.counted import counted

if TYPE_CHECKING:
    from trainferry.cli.subparsers import Subparsers
    from trainferry.train.recipe.sections import Recipe


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser("data", help="pack, render, check and unpack record files")
    commands = parser.add_subparsers(required=True, metavar="WHAT")
    _add_words(commands)
    _add_synth90k(commands)
    add_imagenet(commands)
    add_signs(commands)
    add_fsns(commands)
    add_lmdb(commands)
    add_folder(commands)
    _add_unpack(commands)
    _add_check(commands)
    _add_alphabet(commands)


def run_words(arguments: argparse.Namespace) -> int:
    from trainferry.train.data.render.words.make import (
        WordsOptions,
        render_words,
        write_check_sheet,
    )

    options = WordsOptions(
        count=arguments.count,
        seed=arguments.seed,
        fonts=arguments.fonts,
        words=arguments.words,
        processes=arguments.processes,
        split=arguments.split,
        style=arguments.style,
        lines=arguments.lines,
    )
    if arguments.check_sheet:  # first: whoever looks at it need not wait for the rest
        write_check_sheet(replace(options, count=min(options.count, 100)), arguments.check_sheet)
        print(f"check sheet: {arguments.check_sheet}", file=sys.stderr)
    with progress_bar("words") as progress:
        report = render_words(options, arguments.to, progress)
    facts = {
        "count": report.count,
        "files": [str(path) for path in report.files],
        "fonts": report.fonts,
        "refused_fonts": {str(font.path): font.reason for font in report.refused_fonts},
        "left_out_words": report.left_out_words,
        "seconds": round(report.seconds, 3),
    }
    print_result(arguments, facts, report.summary())
    return 0


def run_synth90k(arguments: argparse.Namespace) -> int:
    from trainferry.train.data.words.synth90k import SPLITS, Synth90kOptions, pack_synth90k

    options = Synth90kOptions(
        splits=tuple(arguments.split) if arguments.split else SPLITS,
        layout=arguments.layout,
        shards=arguments.shards,
        processes=arguments.processes,
    )
    with progress_bar("shards") as progress:
        report = pack_synth90k(arguments.tree, arguments.to, options, progress)
    print_result(arguments, report.to_json(), report.summary())
    return 0


def run_unpack(arguments: argparse.Namespace) -> int:
    from trainferry.train.data.words.unpack import unpack_records

    source: Path = arguments.source
    if holds_photos(source, arguments.split):
        return unpack_classes(arguments)
    paths = [source] if source.is_file() else find_text_records(source, arguments.split)
    _tell_splits(paths)
    with progress_bar("records") as progress:
        report = unpack_records(paths, arguments.to, ord_map=arguments.ord_map, progress=progress)
    print_result(arguments, report.to_json(), report.summary())
    return 0


def _tell_splits(paths: Sequence[Path]) -> None:
    """Warn of a list in which signs or words of training and of tests stand together."""
    first = (re.match("train|val|test", path.name) for path in paths)
    splits = list(dict.fromkeys(match[0] for match in first if match))
    if len(splits) > 1:
        print(
            f"note: {', '.join(splits)} go into one list; `--split {splits[0]}` takes one alone, "
            "so that none is trained on that is to be scored",
            file=sys.stderr,
        )


def run_check(arguments: argparse.Namespace) -> int:
    from trainferry.train.recipe.read import read_recipe
    from trainferry.train.recipe.tasks import ClassifyRecipe, PhotoPicture, SpellRecipe

    recipe = read_recipe(arguments.recipe or _usual_recipe(arguments), arguments.set)
    if isinstance(recipe.task, ClassifyRecipe):
        assert isinstance(recipe.picture, PhotoPicture)
        return check_classes(arguments, recipe.task, recipe.picture)
    if isinstance(recipe.task, SpellRecipe):
        return check_texts(arguments, recipe, recipe.task)
    return _check_words(arguments, recipe, recipe.task.max_length)


def _usual_recipe(arguments: argparse.Namespace) -> str:
    """Tell from the data what it is for: by their records, and signs by their charset, too."""
    from trainferry.train.data.signs.charset import find_charset
    from trainferry.train.data.signs.records import holds_signs

    source: Path = arguments.source
    if holds_photos(source, arguments.split):
        return "resnet50"
    if find_charset(data_folder(source)) is not None:
        return "attention_ocr"
    paths = [source] if source.is_file() else find_text_records(source, arguments.split)
    return "attention_ocr" if holds_signs(paths[0]) else "crnn"


def run_alphabet(arguments: argparse.Namespace) -> int:
    from trainferry.train.data.check_texts import show_characters
    from trainferry.train.data.words.alphabet import Alphabet, add_alphabet
    from trainferry.train.data.words.check import find_characters

    characters = find_characters(arguments.source, arguments.split, arguments.case)
    folder = arguments.source / "char_dict"
    add_alphabet(Alphabet(characters), arguments.source)
    facts = {"folder": str(folder), "characters": characters, "classes": len(characters) + 1}
    shown = show_characters(characters[:100]) + " …" * (len(characters) > 100)
    print_result(
        arguments,
        facts,
        f"{counted(len(characters), 'character')} and the blank, in {folder}\n{shown}",
    )
    return 0


def _check_words(arguments: argparse.Namespace, recipe: Recipe, max_length: int) -> int:
    from trainferry.train.data.tfrecord import find_records
    from trainferry.train.data.words.check import check_words
    from trainferry.train.networks.crnn import columns_of
    from trainferry.train.words import complete, open_words

    source: Path = arguments.source
    recipe = complete(recipe, data_folder(source))
    paths = [source] if source.is_file() else find_records(source, arguments.split)
    with progress_bar("records") as progress:
        check = check_words(
            open_words(recipe, paths),
            columns=columns_of(recipe.picture.width),
            max_length=max_length,
            pictures=not arguments.labels_only,
            processes=arguments.processes,
            progress=progress,
        )
    print_result(arguments, check.to_json(), check.summary())
    return 0 if len(check.kept) else 1


def _add_words(commands: Subparsers) -> None:
    parser = commands.add_parser("words", help="render labelled words from fonts and word lists")
    parser.add_argument("--count", type=positive, required=True, help="how many pictures")
    add_to(parser)
    parser.add_argument("--seed", type=int, default=0, help="other seeds give other pictures")
    parser.add_argument("--fonts", type=Path, help="folder of fonts, instead of the bundled ones")
    parser.add_argument("--words", type=Path, help="word list, instead of the bundled one")
    parser.add_argument(
        "--lines",
        action="store_true",
        help="the list has lines of text: draw and label them as they are written",
    )
    parser.add_argument("--split", default="train", help="train, val or test")
    parser.add_argument(
        "--style", choices=("street", "plain"), default="street", help="as photographed, or tidy"
    )
    parser.add_argument(
        "--check-sheet", type=Path, metavar="PNG", help="also write a page of pictures to look at"
    )
    add_processes(parser)
    parser.set_defaults(run=run_words)


def _add_synth90k(commands: Subparsers) -> None:
    parser = commands.add_parser("synth90k", help="pack the Synth90k tree (90kDICT32px)")
    parser.add_argument("tree", type=Path, help="folder with lexicon.txt and annotation_*.txt")
    add_to(parser)
    parser.add_argument(
        "--split", action="append", choices=("train", "val", "test"), help="default: all three"
    )
    parser.add_argument("--shards", type=positive, default=32, help="record files per split")
    add_layout(parser)
    add_processes(parser)
    parser.set_defaults(run=run_synth90k)


def _add_unpack(commands: Subparsers) -> None:
    parser = commands.add_parser("unpack", help="write the pictures and labels of record files")
    parser.add_argument("source", type=Path, help="a record file, or a folder of them")
    add_to(parser)
    parser.add_argument("--split", default="", help="only this split (default: every record file)")
    parser.add_argument("--ord-map", type=Path, help="ord_map.json of raw records, if not beside")
    parser.set_defaults(run=run_unpack)


def _add_check(commands: Subparsers) -> None:
    parser = commands.add_parser("check", help="what would be kept and dropped, and why")
    parser.add_argument("source", type=Path, help="a folder of record files, or one file")
    parser.add_argument(
        "--recipe", help="whose classes and sizes to check by (default: one that fits the data)"
    )
    parser.add_argument("--split", default="train", help="train, val or test")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override a recipe value"
    )
    parser.add_argument("--labels-only", action="store_true", help="do not decode the pictures")
    add_processes(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run_check)


def _add_alphabet(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "alphabet", help="write the characters of the labels as ord_map.json and char_dict.json"
    )
    parser.add_argument("source", type=Path, help="a folder of record files")
    parser.add_argument("--split", default="train", help="train, val or test")
    parser.add_argument(
        "--case", choices=("lower", "keep"), default="keep", help="fold labels to lower case or not"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run_alphabet)
