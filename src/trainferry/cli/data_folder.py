"""trainferry data folder: pictures of words with their labels, or photographs in class folders."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from trainferry.cli.data_arguments import add_processes, add_to, print_result, share
from trainferry.cli.data_photos import pack_classes
from trainferry.cli.parser import positive
from trainferry.cli.progress import progress_bar
from trainferry.errors import DataError, UsageError

if TYPE_CHECKING:
    from trainferry.cli.subparsers import Subparsers
    from trainferry.train.data.words.labels import LabelFile

_LISTS = ("gt.tsv", "gt.txt")


def add_folder(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "folder", help="pack words with their label file, or photographs in a folder for each class"
    )
    parser.add_argument("source", type=Path, help="folder with a label file or with class folders")
    add_to(parser)
    parser.add_argument("--split", default="train", help="train, val or test")
    parser.add_argument(
        "--labels",
        type=Path,
        metavar="FILE",
        help="of words: the label file, whose paths start from the source (default: gt.tsv there, "
        "or the only file of PaddleOCR's, clovaai's, ICDAR's or MMOCR's form)",
    )
    parser.add_argument(
        "--validation",
        type=share,
        default=0.0,
        metavar="SHARE",
        help="put this share (such as 0.1) into the validation set, of photographs of each class",
    )
    parser.add_argument(
        "--names", type=Path, metavar="FILE", help="folder and class name on each line"
    )
    parser.add_argument(
        "--classes-from",
        type=Path,
        metavar="FILE",
        help="of photographs: picture and class on each line (CSV, or with tabs), where folders "
        "do not tell them",
    )
    parser.add_argument(
        "--short-side",
        type=positive,
        default=0,
        metavar="PIXELS",
        help="make photographs smaller whose short side is longer than this (such as 512)",
    )
    parser.add_argument(
        "--layout",
        choices=("encoded", "raw"),
        help="of words: encoded (default) keeps the files' bytes; raw is 32 x 100 RGB",
    )
    add_processes(parser)
    parser.set_defaults(run=run_folder)


def run_folder(arguments: argparse.Namespace) -> int:
    source: Path = arguments.source
    if not source.is_dir():
        raise DataError(f"`{source}` is no folder", hint="check the path")
    if arguments.classes_from is not None:
        if arguments.labels is not None:
            raise UsageError(
                "--labels is for words and --classes-from for photographs",
                hint="leave one of them out",
            )
        return pack_classes(arguments)
    labels = _choose_labels(source, arguments.labels)
    if labels is not None:
        return _pack_words(arguments, labels)
    folders = sorted(path for path in source.iterdir() if path.is_dir())
    if folders:
        _refuse_words(folders)
        return pack_classes(arguments)
    _explain_list(source)
    raise DataError(
        f"`{source}` has neither a label file nor class folders",
        hint="words need a gt.tsv with `file<TAB>text` lines, or --labels FILE; photographs need "
        "a folder of pictures for each class, or --classes-from FILE",
    )


def _refuse_words(folders: Sequence[Path]) -> None:
    """Folders with a list of their own are sets of words, not classes of photographs."""
    lists = [path for folder in folders for name in _LISTS if (path := folder / name).is_file()]
    if lists:
        one = lists[0].parent
        raise DataError(
            f"`{one}` holds words: it has a {lists[0].name}",
            hint=f"pack each set of words alone, for example: trainferry data folder {one} "
            "--split train --to FOLDER",
        )


def _explain_list(source: Path) -> None:
    """Say what is wrong with the only list of a folder, if there is one."""
    from trainferry.train.data.words.labels import lists_in, open_labels

    lists = lists_in(source)
    if len(lists) == 1:
        open_labels(lists[0])


def _choose_labels(source: Path, asked: Path | None) -> LabelFile | None:
    from trainferry.train.data.words.labels import find_labels, open_labels

    if asked is None:
        return find_labels(source)
    if not asked.exists() and (source / asked).is_file():
        raise DataError(
            f"no `{asked}` here; there is one in `{source}`",
            hint=f"pass --labels {source / asked}",
        )
    return open_labels(asked)


def _pack_words(arguments: argparse.Namespace, labels: LabelFile) -> int:
    from trainferry.train.data.words.folder import FolderOptions, pack_folder
    from trainferry.train.data.words.labels import LIST

    if arguments.names or arguments.short_side:
        raise UsageError(
            "--names and --short-side are for class folders, and this folder has a "
            f"{labels.path.name}",
            hint="leave them out",
        )
    if labels.path.name != LIST:
        print(labels.describe(), file=sys.stderr)
    options = FolderOptions(
        arguments.split,
        arguments.layout or "encoded",
        arguments.processes,
        labels,
        arguments.validation,
    )
    with progress_bar("pictures") as progress:
        report = pack_folder(arguments.source, arguments.to, options, progress)
    facts = {"labels": str(labels.path), "read_as": labels.kind, **report.to_json()}
    print_result(arguments, facts, report.summary())
    return 0
