"""python -m trainferry.launch.preflight: one rank's part of a preflight, as a program.

Started once for each rank, with the variables of `launch.environment`. Rank 0 writes the report
to stdout; with `--report` every rank writes it to a file instead, for the program that started it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from trainferry.errors import TrainferryError, UsageError
from trainferry.launch.preflight.course import Course
from trainferry.launch.preflight.limited import is_stuck
from trainferry.launch.preflight.place import read_place
from trainferry.launch.preflight.report import Report, write_report
from trainferry.launch.preflight.settings import Eyes, Settings
from trainferry.launch.preflight.show import format_report
from trainferry.launch.ranktable.chips import CHIPS


def main(arguments: Sequence[str] | None = None, eyes: Eyes | None = None) -> int:
    """Returns 0 when the run can start, 1 when something is wrong, 2 for wrong usage."""
    parsed = build_parser().parse_args(arguments)
    # torch writes of each try to connect; the report tells what came of them.
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    try:
        place = read_place(os.environ)
        course = Course(place, _settings(parsed), eyes or Eyes())
        report = course.run()
        if parsed.report is not None:
            write_report(report, parsed.report, place.rank)
        else:
            _show(report, place.rank, as_json=parsed.json)
        course.leave()
    except TrainferryError as error:
        sys.stderr.write(f"error: {error}\n\nhint: {error.hint}\n")
        return 2 if isinstance(error, UsageError) else 1
    code = 0 if report.ok else 1
    sys.stdout.flush()
    sys.stderr.flush()
    if is_stuck():
        os._exit(code)  # a library that never came back would keep the process from ending
    return code


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m trainferry.launch.preflight",
        description="What all ranks check together before a training; started once for each.",
    )
    parser.add_argument(
        "--seconds", type=float, default=15.0, help="for all ranks to come (default: 15)"
    )
    parser.add_argument(
        "--trial-seconds", type=float, default=60.0, help="for an all-reduce (default: 60)"
    )
    parser.add_argument("--device", default="cpu", help="kind of device (default: cpu)")
    parser.add_argument("--backend", help="torch.distributed backend of the device, beside gloo")
    parser.add_argument(
        "--fact",
        action="append",
        default=[],
        metavar="NAME=VERSION",
        help="a version of this machine that must be the same on all, such as a driver's",
    )
    parser.add_argument(
        "--folder",
        action="append",
        default=[],
        type=Path,
        help="one more folder that must have space",
    )
    parser.add_argument(
        "--chip", choices=tuple(CHIPS), help="whose rules the rank table is checked by"
    )
    parser.add_argument("--report", type=Path, metavar="FOLDER", help="write there, not to stdout")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    return parser


def _settings(parsed: argparse.Namespace) -> Settings:
    facts = {}
    for fact in parsed.fact:
        name, equals, version = fact.partition("=")
        if not equals:
            raise UsageError(f"`{fact}` is not a fact", hint="write it as NAME=VERSION")
        facts[name] = version
    if min(parsed.seconds, parsed.trial_seconds) <= 0:
        raise UsageError("no time to wait for anything", hint="give seconds above 0")
    return Settings(
        seconds=parsed.seconds,
        trial_seconds=parsed.trial_seconds,
        device=parsed.device,
        backend=parsed.backend,
        facts=facts,
        folders=tuple(parsed.folder),
        chip=parsed.chip,
    )


def _show(report: Report, rank: int, *, as_json: bool) -> None:
    """Rank 0 speaks for all; a rank that did not find it speaks for itself."""
    if report.told_by != 0:
        for problem in report.problems("wrong"):
            sys.stderr.write(f"error: {problem.sentence}\n\nhint: {problem.fix}\n")
    if rank != 0:
        return
    if as_json:
        sys.stdout.write(json.dumps(report.to_json(), indent=2) + "\n")
        sys.stdout.flush()
        return
    is_terminal = sys.stdout.isatty()
    columns = shutil.get_terminal_size().columns if is_terminal else None
    colour = is_terminal and "NO_COLOR" not in os.environ
    sys.stdout.write(format_report(report, colour=colour, columns=columns) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
