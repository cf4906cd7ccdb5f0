"""trainferry compare: do two runs compute the same, and if not, where do they part?"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from trainferry.cli.compare_table import print_comparison
from trainferry.errors import UsageError

if TYPE_CHECKING:
    from trainferry.cli.subparsers import Subparsers
    from trainferry.devices.precision import Precision
    from trainferry.train.debug.compare.compare import How


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "compare",
        help="compare two runs layer by layer and step by step",
        description="Compare two runs of one network: what differs in how they were made, what "
        "their layers give for the same pictures, and their losses. Also two checkpoints, or two "
        "dumps of `train --debug dump=…`. Exits with 1 when they part.",
    )
    parser.add_argument("one", metavar="RUN", type=Path, help="a run, checkpoint or dump")
    parser.add_argument("other", metavar="OTHER", type=Path, help="another; or the same")
    parser.add_argument("--data", type=Path, help="records to take pictures of; else made-up ones")
    parser.add_argument("--split", default="val", help="which record files: val, test, train")
    parser.add_argument(
        "--checkpoint",
        action="append",
        metavar="WHICH",
        help="last (as usual), best, a step, or common: every step that both have",
    )
    parser.add_argument(
        "--device", default="auto", help="auto, cpu, cuda or npu; two as cpu,npu, one for each"
    )
    parser.add_argument(
        "--precision", default="fp32", help="fp32, bf16 or fp16; two as fp32,bf16, one for each"
    )
    parser.add_argument(
        "--tolerance",
        type=_share,
        metavar="SHARE",
        help="of a layer's largest value; as usual 1e-4, with fp16 1e-2, with bf16 5e-2",
    )
    parser.add_argument(
        "--loss-tolerance",
        type=_share,
        default=0.01,
        metavar="SHARE",
        help="of the larger loss of a step",
    )
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw losses and layers, a PNG")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.set_defaults(run=run, computes=True)


def run(arguments: argparse.Namespace) -> int:
    from trainferry.train.debug.compare.compare import compare

    how = _how(arguments)
    comparison = compare(arguments.one, arguments.other, how)
    if arguments.plot is not None:
        from trainferry.train.debug.compare.picture import comparison_picture

        names = (str(arguments.one), str(arguments.other))
        comparison_picture(comparison, names, arguments.plot)
        print(f"drew {arguments.plot}", file=sys.stderr)
    if arguments.json:
        print(json.dumps(comparison.to_json(), indent=1, default=str, ensure_ascii=False))
    else:
        print_comparison(comparison)
    return 1 if comparison.parts else 0


def _how(arguments: argparse.Namespace) -> How:
    from trainferry.devices.device import choose_device, describe_device
    from trainferry.train.debug.compare.compare import How

    names = _pair(arguments.device, "--device")
    precisions = [_precision(each) for each in _pair(arguments.precision, "--precision")]
    devices = [choose_device(name) for name in names]
    for device in dict.fromkeys(devices):
        print(describe_device(device), file=sys.stderr)
    return How(
        devices=(devices[0], devices[1]),
        precisions=(precisions[0], precisions[1]),
        data=arguments.data,
        split=arguments.split,
        checkpoints=arguments.checkpoint or ["last"],
        tolerance=arguments.tolerance,
        loss_tolerance=arguments.loss_tolerance,
    )


def _pair(text: str, option: str) -> tuple[str, str]:
    parts = text.split(",")
    if len(parts) > 2 or not all(parts):
        raise UsageError(
            f"`{option} {text}` is neither one nor two",
            hint=f"give one for both runs, or two with a comma between: {option} ONE,OTHER",
        )
    return parts[0], parts[-1]


def _precision(text: str) -> Precision:
    from trainferry.devices.precision import PRECISIONS

    found = next((each for each in PRECISIONS if each == text), None)
    if found is None:
        raise UsageError(f"`{text}` is no precision", hint=f"choose one of {', '.join(PRECISIONS)}")
    return found


def _share(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of 0 or more")
    return number
