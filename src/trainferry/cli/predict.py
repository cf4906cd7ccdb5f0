"""trainferry predict: read words from pictures."""

from __future__ import annotations

import argparse
import json
import sys
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainferry.cli.subparsers import Subparsers
    from trainferry.train.predict import Decode, Prediction
    from trainferry.train.reader import Reader

MOST_IN_GRID = 400


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "predict",
        help="read words from pictures",
        description="Read the word in each picture: text, confidence, and one score per "
        "character. Prints a table, or tab-separated lines into a pipe.",
    )
    parser.add_argument(
        "reader", metavar="RUN", type=Path, help="folder of a run, or an exported .onnx file"
    )
    parser.add_argument(
        "pictures", metavar="PICTURE", type=Path, nargs="+", help="pictures, or folders of them"
    )
    parser.add_argument("--checkpoint", default="best", help="best, last, or a step")
    parser.add_argument("--beam", type=int, metavar="N", help="search with a beam this wide")
    parser.add_argument(
        "--lexicon", type=Path, metavar="FILE", help="read only words of this file, one per line"
    )
    parser.add_argument("--grid", type=Path, metavar="FILE", help="draw what was read, as a PNG")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or npu")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from trainferry.train.predict import find_pictures, predict
    from trainferry.train.reader import open_reader

    paths = find_pictures(arguments.pictures)
    reader = open_reader(arguments.reader, device=arguments.device, checkpoint=arguments.checkpoint)
    _say(reader.device)
    _say(reader.name)
    predictions = list(predict(reader, paths, _decoding(reader, arguments)))
    read = [each for each in predictions if each.problem is None]
    failed = [each for each in predictions if each.problem is not None]
    if arguments.json:
        _print_json(reader, predictions)
    else:
        _print_lines(read)
    for each in failed:
        _say(f"{each.path}: {each.problem}")
    if failed:
        _say(f"{len(failed)} of {len(predictions)} pictures could not be read")
    if arguments.grid and read:
        _draw_grid(read, arguments.grid)
    return 1 if failed else 0


def _decoding(reader: Reader, arguments: argparse.Namespace) -> Decode:
    from trainferry.train.predict import choose_decoding
    from trainferry.train.tasks.decode import Lexicon

    if arguments.lexicon is None:
        return choose_decoding(reader, arguments.beam, None)
    lexicon = Lexicon.read(arguments.lexicon, reader.alphabet, case=reader.case)
    if lexicon.left_out:
        some = ", ".join(lexicon.left_out[:3])
        _say(f"{len(lexicon.left_out)} words cannot be spelt with the alphabet: {some}, …")
    return choose_decoding(reader, arguments.beam, lexicon)


def _print_json(reader: Reader, predictions: list[Prediction]) -> None:
    content = {
        "reader": reader.name,
        "failed": sum(each.problem is not None for each in predictions),
        "predictions": [each.to_json() for each in predictions],
    }
    print(json.dumps(content, indent=1, ensure_ascii=False))


def _print_lines(read: list[Prediction]) -> None:
    rows = [
        (
            str(each.path),
            each.text,
            f"{each.confidence:.4f}",
            " ".join(f"{score:.2f}" for score in each.character_scores),
        )
        for each in read
    ]
    if not sys.stdout.isatty():
        for row in rows:
            print("\t".join(row))
        return
    rows.insert(0, ("picture", "text", "confidence", "characters"))
    widths = [max(_width(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        cells = [
            cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=False)
        ]
        print("  ".join([*cells, row[3]]).rstrip())


def _draw_grid(read: list[Prediction], path: Path) -> None:
    from trainferry.train.picture_grid import Caption, picture_grid

    drawn = [each for each in read if each.picture is not None][:MOST_IN_GRID]
    pictures = [each.picture for each in drawn if each.picture is not None]
    picture_grid(pictures, [Caption(each.text, confidence=each.confidence) for each in drawn], path)
    left = f", the first {len(drawn)} of {len(read)}" if len(drawn) < len(read) else ""
    _say(f"{path}: {len(drawn)} pictures with what was read{left}")


def _width(text: str) -> int:
    """Count terminal cells: Chinese characters take two."""
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text)


def _say(message: str) -> None:
    print(message, file=sys.stderr)
