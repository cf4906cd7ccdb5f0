"""trainferry predict: read words or signs from pictures, or name what photographs show."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from trainferry.cli.predict_draw import (
    check_attention,
    draw_attention,
    draw_grid,
    refuse_read_targets,
)
from trainferry.cli.progress import progress_bar
from trainferry.counted import counted
from trainferry.errors import UsageError

if TYPE_CHECKING:
    from trainferry.cli.subparsers import Subparsers
    from trainferry.train.predict.answers import Answer, Decode
    from trainferry.train.predict.predict import Prediction
    from trainferry.train.predict.reader import Reader

MOST_IN_GRID = 400

_SEARCHES = ("beam", "lexicon")
_SCORES = "`--json` tells the score of every character"


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "predict",
        help="read words or signs in pictures, or name photographs",
        description="Ask a network about pictures. One that reads words or signs gives the text, "
        "its confidence, and one score per character; one that names photographs gives the "
        "likeliest classes and their probabilities. Prints a table, or tab-separated lines into a "
        "pipe. Of a sign, a picture shows all views side by side, in the size of the recipe, or "
        "is one view of any size; views of one sign are joined with +, as in left.jpg+right.jpg. "
        "Views that are missing become noise, as in the training data.",
    )
    parser.add_argument(
        "reader", metavar="RUN", type=Path, help="folder of a run, or an exported .onnx file"
    )
    parser.add_argument(
        "pictures", metavar="PICTURE", type=Path, nargs="+", help="pictures, or folders of them"
    )
    parser.add_argument(
        "--checkpoint", default="best", help="best, last, or a step (default: best)"
    )
    parser.add_argument("--beam", type=int, metavar="N", help="words: search with a beam this wide")
    parser.add_argument(
        "--lexicon",
        type=Path,
        metavar="FILE",
        help="words: read only those of this file, one per line",
    )
    parser.add_argument(
        "--top",
        type=int,
        metavar="N",
        help="photographs: show this many classes (default: 5, and 1 into a pipe)",
    )
    parser.add_argument("--grid", type=Path, metavar="FILE", help="draw the answers, as a PNG")
    parser.add_argument(
        "--attention",
        type=Path,
        metavar="PATH",
        help="signs: draw where the network looked for each character, as a PNG; for several "
        "signs, a folder of them",
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or npu")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run, computes=True)


def run(arguments: argparse.Namespace) -> int:
    from trainferry.train.predict.predict import find_pictures
    from trainferry.train.predict.reader import open_reader

    paths = find_pictures(arguments.pictures)
    reader = open_reader(arguments.reader, device=arguments.device, checkpoint=arguments.checkpoint)
    _say(reader.device)
    _say(reader.name)
    if arguments.attention:
        check_attention(reader, paths, arguments.attention)
    refuse_read_targets(reader, paths, arguments)
    predictions = _predict(reader, paths, arguments)
    answered = [each for each in predictions if each.answer is not None]
    failed = [each for each in predictions if each.answer is None]
    if arguments.json:
        _print_json(reader, predictions)
    else:
        _print_answers(answered)
    for each in failed:
        _say(f"{each.path}: {each.problem}")
    if failed:
        _say(f"{len(failed)} of {counted(len(predictions), 'picture')} could not be read")
    _tell_views(reader, answered)
    _tell_turned([each.path for each in answered])
    if arguments.grid and answered:
        draw_grid(answered, arguments.grid)
    if arguments.attention and answered:
        draw_attention(reader, [each.path for each in answered], arguments.attention)
    return 1 if failed else 0


def _predict(
    reader: Reader, paths: Sequence[Path], arguments: argparse.Namespace
) -> list[Prediction]:
    """Ask about every picture; keep small ones, and only those that are drawn."""
    from trainferry.train.predict.picture_grid import shrink_to_card
    from trainferry.train.predict.predict import predict

    found: list[Prediction] = []
    drawn = 0
    decode = _decoding(reader, arguments)
    with progress_bar("pictures") as progress:
        for each in predict(reader, paths, decode):
            picture = each.picture
            if not arguments.grid or drawn == MOST_IN_GRID:
                picture = None
            if picture is not None:
                picture = shrink_to_card(picture)
                drawn += 1
            found.append(dataclasses.replace(each, picture=picture))
            progress(len(found), len(paths))
    return found


def _decoding(reader: Reader, arguments: argparse.Namespace) -> Decode:
    from trainferry.train.export.onnx.sign_facts import SignFacts
    from trainferry.train.export.onnx.word_facts import WordFacts
    from trainferry.train.predict.answers import TOP, choose_classes, choose_spelling

    facts = reader.facts
    if isinstance(facts, WordFacts):
        _refuse(arguments, ["top"], "for classes, and this network reads words", _SCORES)
        return _word_decoding(reader, arguments)
    if isinstance(facts, SignFacts):
        _refuse(arguments, ["top"], "for classes, and this network reads signs", _SCORES)
        _refuse(arguments, _SEARCHES, "for words, and this network reads signs", _SCORES)
        return choose_spelling(reader)
    _refuse(
        arguments,
        _SEARCHES,
        "for words, and this network names photographs",
        "`--top 10` shows more classes",
    )
    piped = not arguments.json and not sys.stdout.isatty()
    return choose_classes(reader, (1 if piped else TOP) if arguments.top is None else arguments.top)


def _refuse(
    arguments: argparse.Namespace, options: Sequence[str], meaning: str, instead: str
) -> None:
    for option in options:
        if getattr(arguments, option) is not None:
            raise UsageError(f"--{option} is {meaning}", hint=f"leave it out; {instead}")


def _word_decoding(reader: Reader, arguments: argparse.Namespace) -> Decode:
    from trainferry.train.predict.answers import choose_decoding
    from trainferry.train.tasks.decode import Lexicon

    if arguments.lexicon is None:
        return choose_decoding(reader, arguments.beam, None)
    lexicon = Lexicon.read(arguments.lexicon, reader.alphabet, case=reader.words.case)
    if lexicon.left_out:
        some = ", ".join(lexicon.left_out[:3]) + ", …" * (len(lexicon.left_out) > 3)
        _say(f"{counted(len(lexicon.left_out), 'word')} cannot be spelt with the alphabet: {some}")
    return choose_decoding(reader, arguments.beam, lexicon)


def _print_json(reader: Reader, predictions: list[Prediction]) -> None:
    content = {
        "reader": reader.name,
        "failed": sum(each.answer is None for each in predictions),
        "predictions": [each.to_json() for each in predictions],
    }
    print(json.dumps(content, indent=1, ensure_ascii=False))


def _print_answers(answered: list[Prediction]) -> None:
    pairs = [(str(each.path), each.answer) for each in answered if each.answer is not None]
    if sys.stdout.isatty():
        _print_table([row for path, answer in pairs for row in _rows(path, answer)])
        return
    for path, answer in pairs:
        print("\t".join([path, *answer.cells()]))


def _rows(path: str, answer: Answer) -> list[dict[str, str]]:
    """Return one row for a word, one for each class of a photograph."""
    from trainferry.train.predict.answers import WordAnswer

    cells = answer.cells()
    if isinstance(answer, WordAnswer):
        columns = ("picture", "text", "confidence", "characters")
        return [dict(zip(columns, [path, *cells], strict=True))]
    return [
        {
            "picture": "" if place else path,
            "class": cells[place],
            "confidence": cells[place + 1],
        }
        for place in range(0, len(cells), 2)
    ]


def _print_table(rows: Sequence[dict[str, str]]) -> None:
    if not rows:
        return
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    widths = [max(_width(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        cells = [
            cell + " " * (width - _width(cell)) for cell, width in zip(line, widths, strict=True)
        ]
        print("  ".join(cells).rstrip())


def _tell_views(reader: Reader, answered: list[Prediction]) -> None:
    """Say where a network that wants several views was given fewer."""
    from trainferry.train.export.onnx.sign_facts import SignFacts

    facts = reader.facts
    if not isinstance(facts, SignFacts):
        return
    wanted = facts.picture.views
    fewer = sum(each.views is not None and each.views < wanted for each in answered)
    if fewer:
        _say(
            f"{fewer} of {counted(len(answered), 'sign')} {'has' if fewer == 1 else 'have'} "
            f"fewer than {wanted} views; noise stands for the others, as in the training data"
        )


def _tell_turned(paths: Sequence[Path]) -> None:
    from trainferry.train.data.orientation import HEAD_BYTES, is_turned

    turned = 0
    for path in paths:
        if path.is_file():
            with path.open("rb") as file:
                turned += is_turned(file.read(HEAD_BYTES))
    if turned:
        _say(
            f"{turned} of {counted(len(paths), 'picture')} {'is' if turned == 1 else 'are'} "
            "stored rotated, to be shown upright by EXIF, "
            "which is ignored, as in training"
        )


def _width(text: str) -> int:
    """Count terminal cells: Chinese characters take two."""
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text)


def _say(message: str) -> None:
    print(message, file=sys.stderr)
