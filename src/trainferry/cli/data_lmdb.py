"""trainferry data lmdb: the words of LMDB files, as other text recognisers keep them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from trainferry.cli.data_arguments import add_layout, add_processes, add_to, print_result
from trainferry.cli.progress import progress_bar
from trainferry.counted import counted

if TYPE_CHECKING:
    from trainferry.cli.subparsers import Subparsers
    from trainferry.train.data.words.lmdb import WordLmdb


def add_lmdb(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "lmdb", help="pack words from LMDB files (clovaai, parseq, MMOCR, PaddleOCR, Union14M)"
    )
    parser.add_argument(
        "source",
        type=Path,
        nargs="+",
        help="LMDB folder, its data.mdb, or a folder of LMDB folders; one or more",
    )
    add_to(parser)
    parser.add_argument("--split", default="train", help="train, val or test")
    add_layout(parser)
    add_processes(parser)
    parser.set_defaults(run=run_lmdb)


def run_lmdb(arguments: argparse.Namespace) -> int:
    from trainferry.train.data.words.lmdb import LmdbOptions, pack_lmdbs
    from trainferry.train.data.words.lmdb_tree import find_word_lmdbs

    files = find_word_lmdbs(arguments.source)
    print(_describe(files), file=sys.stderr)
    options = LmdbOptions(arguments.split, arguments.layout, arguments.processes)
    with progress_bar("words") as progress:
        report = pack_lmdbs(files, arguments.to, options, progress)
    sources = [
        {"path": str(file.path), "samples": file.samples, "entries": file.entries} for file in files
    ]
    print_result(arguments, {"sources": sources, **report.to_json()}, report.summary())
    return 0


def _describe(files: Sequence[WordLmdb]) -> str:
    total = sum(file.samples for file in files)
    lines = [f"reading {counted(total, 'word')} from {counted(len(files), 'LMDB file')}"]
    for file in files:
        odd = f", in {file.entries:,} entries where {file.expected:,} should be"
        lines.append(f"    {file.samples:,}  {file.name}{odd * (file.entries != file.expected)}")
    return "\n".join(lines)
