"""trainferry export: write a run as an ONNX file that was compared with it."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from trainferry.errors import UsageError

if TYPE_CHECKING:
    from trainferry.cli.subparsers import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "export",
        help="write a run as an ONNX file, checked against the network",
        description="Write the network of a run as one ONNX file. The file takes uint8 RGB "
        "pictures of the recipe's size and holds the normalisation, the characters or the classes, "
        "and how to use it. It is run and compared with the network before it gets its name.",
    )
    parser.add_argument("folder", metavar="RUN", type=Path, help="folder of the run")
    parser.add_argument(
        "--to", type=Path, required=True, metavar="FILE", help="file to write, ending in .onnx"
    )
    parser.add_argument(
        "--checkpoint", default="best", help="best, last, or a step (default: best)"
    )
    parser.add_argument("--data", type=Path, help="compare on the record files in this folder")
    parser.add_argument("--split", default="val", help="which record files: val, test, train")
    parser.add_argument(
        "--pictures", type=Path, nargs="+", default=[], help="compare on these pictures or folders"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run, computes=True)


def run(arguments: argparse.Namespace) -> int:
    from trainferry.devices.device import choose_device, describe_device
    from trainferry.train.build import open_run
    from trainferry.train.export.export import export_run

    if arguments.data and arguments.pictures:
        raise UsageError("--data and --pictures are two ways to say the same", hint="give one")
    device = choose_device("cpu")
    print(describe_device(device), file=sys.stderr)
    opened = open_run(arguments.folder, device=device, checkpoint=arguments.checkpoint)
    exported = export_run(
        opened,
        arguments.to,
        data=arguments.data,
        split=arguments.split,
        pictures=arguments.pictures,
    )
    if arguments.json:
        print(json.dumps(exported.to_json(), indent=1, ensure_ascii=False))
    else:
        print(exported.summary())
    return 0
