"""trainferry rehearse: run a migrated project here, without an NPU, and say what one would do."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from trainferry.cli.parser import positive
from trainferry.errors import UsageError

if TYPE_CHECKING:
    from trainferry.cli.subparsers import Subparsers
    from trainferry.rehearse.plan import Plan
    from trainferry.rehearse.rehearsal import Rehearsal

_TINY_RECORDS = 512
_SETUP = Path("rehearsal-python")


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "rehearse",
        help="run a migrated project here, without an NPU",
        usage="trainferry rehearse PROJECT --entry FILE [OPTIONS] -- ARGUMENTS ...",
        description="Run a migrated TensorFlow 1.15 project on this machine, with stand-ins for "
        "the packages of the NPU: does it run, what would the device refuse, and are the numbers "
        "those of the original? What follows `--` goes to the script. Exits with 1 unless the "
        "verdict is `runs`.",
    )
    parser.add_argument("project", metavar="PROJECT", nargs="?", type=Path, help="its folder")
    parser.add_argument("--entry", metavar="FILE", help="the script in it that trains")
    _add_comparison(parser)
    _add_size(parser)
    _add_device(parser)
    _add_output(parser)
    _add_instead(parser)
    parser.set_defaults(run=run)
    parser.after_dashes = "arguments"


def _add_comparison(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("comparison")
    group.add_argument(
        "--original", type=Path, metavar="PROJECT", help="run it too, and compare the numbers"
    )
    group.add_argument(
        "--original-entry", metavar="FILE", help="its script (default: the same as --entry)"
    )
    group.add_argument(
        "--precision", choices=["fp16", "bf16"], help="run once more with values cast to this"
    )


def _add_size(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("size of the run")
    group.add_argument("--steps", type=positive, default=10, metavar="N", help="train steps to do")
    group.add_argument("--ranks", type=positive, default=1, metavar="N", help="processes to start")
    group.add_argument(
        "--timeout", type=_seconds, default=1800.0, metavar="S", help="seconds for each run"
    )
    group.add_argument(
        "--tiny",
        type=positive,
        nargs="?",
        const=_TINY_RECORDS,
        default=0,
        metavar="RECORDS",
        help=f"cut record files to their first records (default: {_TINY_RECORDS} when given)",
    )


def _add_device(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what the device is like")
    group.add_argument(
        "--adapter",
        choices=["patched", "explicit"],
        default="patched",
        help="patched: puts the NPU into every session when it is imported, as the newest does",
    )
    group.add_argument(
        "--cluster",
        choices=["table", "cm"],
        default="table",
        help="how ranks are told of each other: a rank table, or CM_* variables",
    )
    group.add_argument(
        "--overflow",
        type=_steps,
        metavar="STEPS",
        help="report an overflow at these steps, as 3 or 2,5-7",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("where and how")
    group.add_argument(
        "--python",
        type=Path,
        metavar="EXE",
        help="interpreter with the project's packages (default: the first with TensorFlow 1.15, "
        "else 2.4 to 2.15)",
    )
    group.add_argument(
        "--to",
        type=Path,
        default=Path("rehearsal"),
        metavar="FOLDER",
        help="of the run; an earlier rehearsal in it is replaced",
    )
    group.add_argument(
        "--in-project",
        action="store_true",
        help="run in the project itself, not in a copy: what the script writes stays there",
    )
    group.add_argument(
        "--report",
        type=Path,
        metavar="FOLDER",
        help="of the HTML, Markdown, JSON and SARIF (default: the folder of the run)",
    )
    group.add_argument("--json", action="store_true", help="print the report as JSON")


def _add_instead(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("instead of a rehearsal")
    group.add_argument(
        "--explain",
        nargs="?",
        const="",
        metavar="CHECK",
        help="what a check looks for, why, and what to do; all checks without a name",
    )
    group.add_argument(
        "--setup",
        type=Path,
        nargs="?",
        const=_SETUP,
        metavar="FOLDER",
        help="make an interpreter with TensorFlow there, by --python or the best one here "
        f"(default: {_SETUP}, which later rehearsals from this folder find)",
    )


def run(arguments: argparse.Namespace) -> int:
    if arguments.explain is not None:
        from trainferry.cli.rehearse_explain import explain

        return explain(arguments.explain, as_json=arguments.json)
    if arguments.setup is not None:
        return _setup(arguments)
    return _rehearse(arguments)


def _rehearse(arguments: argparse.Namespace) -> int:
    from trainferry.cli.rehearse_show import open_show
    from trainferry.rehearse.rehearsal import Verdict
    from trainferry.rehearse.run import rehearse

    plan = _plan(arguments)
    rehearsal = rehearse(plan, open_show())
    # The result first: if the report cannot be written, an hour of runs is not lost.
    _print(rehearsal, arguments)
    sys.stdout.flush()
    _write_reports(rehearsal, arguments.report or plan.folder)
    return 0 if rehearsal.verdict is Verdict.RUNS else 1


def _plan(arguments: argparse.Namespace) -> Plan:
    from trainferry.rehearse.interpreter import find_interpreter
    from trainferry.rehearse.plan import Plan, Wishes, check_folder, check_project

    if arguments.project is None:
        raise UsageError(
            "it is not said which project to rehearse",
            hint="trainferry rehearse PROJECT --entry FILE -- ARGUMENTS",
        )
    if arguments.original_entry and arguments.original is None:
        raise UsageError("there is no --original whose entry this could be", hint="add --original")
    entry = check_project(arguments.project, arguments.entry)
    original_entry = None
    if arguments.original is not None:
        asked = arguments.original_entry or str(entry)
        original_entry = check_project(arguments.original, asked, "--original-entry")
    project, folder = arguments.project.resolve(), arguments.to.absolute()
    check_folder(folder, project)
    interpreter = find_interpreter(arguments.python, also=[_SETUP / "bin" / "python"])
    _say(f"with {interpreter}")
    return Plan(
        project=project,
        entry=entry,
        arguments=tuple(arguments.arguments),
        interpreter=interpreter,
        folder=folder,
        original=arguments.original.resolve() if arguments.original else None,
        original_entry=original_entry,
        python_path=os.environ.get("PYTHONPATH", ""),
        wishes=Wishes(
            ranks=arguments.ranks,
            steps=arguments.steps,
            timeout_seconds=arguments.timeout,
            tiny=arguments.tiny,
            adapter=arguments.adapter,
            cluster=arguments.cluster,
            precision=arguments.precision,
            overflow=arguments.overflow or "",
            in_project=arguments.in_project,
        ),
    )


def _print(rehearsal: Rehearsal, arguments: argparse.Namespace) -> None:
    from trainferry.rehearse.rehearsal_json import as_json
    from trainferry.rehearse.report.text import text_report

    if arguments.json:
        print(json.dumps(as_json(rehearsal), indent=1))
        return
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 100
    print(text_report(rehearsal, colour=colour, width=width), end="")


def _write_reports(rehearsal: Rehearsal, folder: Path) -> None:
    from trainferry.rehearse.report.write import write_reports

    _say(f"the report is {write_reports(rehearsal, folder)}")


def _setup(arguments: argparse.Namespace) -> int:
    from trainferry.rehearse.environment import make_environment
    from trainferry.rehearse.environment_plan import plan_environment

    plan = plan_environment(arguments.python)
    _say(str(plan))
    interpreter = make_environment(plan, arguments.setup, _say)
    print(interpreter.executable)
    _say(f"rehearse with it by `--python {interpreter.executable}`")
    return 0


def _seconds(text: str) -> float:
    number = float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else 0.0
    if number <= 0:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of seconds")
    return number


def _steps(text: str) -> str:
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", text):
        raise argparse.ArgumentTypeError(f"`{text}` names no steps: write 3 or 2,5-7")
    return text


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
