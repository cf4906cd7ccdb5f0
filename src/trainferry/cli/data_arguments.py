"""Arguments and output that the commands of `trainferry data` share."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from trainferry.cli.parser import positive


def add_to(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--to", type=Path, required=True, metavar="FOLDER", help="where to write")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def add_processes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--processes", type=positive, default=_cores(), help="default: one for each core"
    )


def add_layout(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--layout",
        choices=("encoded", "raw"),
        default="encoded",
        help="encoded keeps the files' bytes; raw is the originals' 32 x 100 RGB",
    )


def share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is not a share between 0 and 1")
    return share


def data_folder(source: Path) -> Path:
    from trainferry.train.data.pack import PLACE

    if not source.is_file():
        return source
    return source.parent.parent if source.parent.name == PLACE else source.parent


def print_result(arguments: argparse.Namespace, facts: dict[str, Any], summary: str) -> None:
    print(json.dumps(facts, indent=2, ensure_ascii=False) if arguments.json else summary)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
