"""trainferry launch: a command on all devices of one machine or many."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from trainferry.cli.parser import positive, seconds
from trainferry.errors import UsageError

if TYPE_CHECKING:
    from trainferry.cli.subparsers import Subparsers
    from trainferry.launch.start.run import Outcome
    from trainferry.launch.start.start import Start

_KILLER = (
    "something else killed it, most often the kernel when memory runs out: "
    "`dmesg | grep -i 'killed process'` tells; "
)
_SCHEDULERS = ("slurm", "kubernetes", "modelarts")


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "launch",
        help="run a command on all devices of one machine or many",
        usage="trainferry launch [OPTIONS] -- COMMAND ...",
        description="Start a command once for each device, with the variables that PyTorch, HCCL "
        "and migrated TensorFlow projects read. Rank 0 is shown, every rank has a log, the rank "
        "that fails first is named, and all others are stopped.",
    )
    parser.add_argument(
        "command",
        nargs=argparse.REMAINDER,
        metavar="-- COMMAND",
        help="what each rank runs, and its arguments",
    )
    _add_where(parser)
    _add_how(parser)
    _add_instead(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from trainferry.cli.launch_start import build_start

    _require_command(arguments)
    if arguments.write:
        return _write(arguments)
    start = build_start(arguments)
    if arguments.dry_run:
        from trainferry.cli.launch_dry_run import print_dry_run

        print_dry_run(start, as_json=arguments.json)
        return 0
    if arguments.check:
        from trainferry.cli.launch_check import check

        return check(start, arguments)
    return _start(start)


def _start(start: Start) -> int:
    from trainferry.launch.start.run import start_ranks

    outcome = start_ranks(start, _say)
    _tell_end(outcome)
    return outcome.status


def _tell_end(outcome: Outcome) -> None:
    from trainferry.launch.ranktable.table import count_of
    from trainferry.launch.start.failure import is_full

    failure = outcome.failure
    if outcome.status == 0:
        again = f" after {count_of(outcome.restarts, 'restart')}" if outcome.restarts else ""
        _say(f"all ranks ended well{again}")
    elif failure is None:
        _say(f"error: {outcome.reason}; all ranks are stopped")
    else:
        _say(f"\nerror: {failure.sentence()}; all ranks are stopped")
        for line in failure.last_lines:
            print(f"  | {line}", file=sys.stderr)
        more = ""
        if failure.explained:
            print("", *failure.explained, sep="\n", file=sys.stderr)
            more = "; `trainferry doctor --explain` with it tells all of its codes"
        why = _KILLER if failure.was_killed else ""
        if is_full(failure.log):
            why += "the disk of the logs is full; "
        print(f"\nhint: {why}the whole log is {failure.log}{more}", file=sys.stderr)


def _write(arguments: argparse.Namespace) -> int:
    from trainferry.cli.launch_start import build_written_plan
    from trainferry.launch.write.files import write_files
    from trainferry.launch.write.schedulers import scheduler_files

    plan, options = build_written_plan(arguments)
    files = scheduler_files(arguments.write, plan, options)
    if arguments.to is None:
        raise UsageError(
            f"it is not said where the files for {arguments.write} go",
            hint="give a folder with --to FOLDER",
        )
    for path in write_files(files, arguments.to):
        print(path)
    word = "then"
    for submit in dict.fromkeys(file.submit for file in files):
        _say(f"{word}, in {shlex.quote(str(arguments.to))}: {submit}")
        word = "or"  # each file is the whole job
    return 0


def _require_command(arguments: argparse.Namespace) -> None:
    if arguments.command[:1] == ["--"]:
        del arguments.command[0]
    if not arguments.command and not arguments.check:
        raise UsageError(
            "there is no command to start",
            hint="give it after `--`: trainferry launch --devices 8 -- python train.py",
        )
    instead = {
        "--write": arguments.write,
        "--check": arguments.check,
        "--dry-run": arguments.dry_run,
    }
    given = [name for name, value in instead.items() if value]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} do different things", hint="give one of them")
    if arguments.json and given not in (["--dry-run"], ["--check"]):
        raise UsageError(
            "what ranks print is not JSON by itself",
            hint="--json goes with --dry-run or --check, or after `--` to the command",
        )


def _add_where(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--devices", type=positive, metavar="N", help="ranks on each machine (default: 1)"
    )
    parser.add_argument(
        "--device-numbers", metavar="N,N", help="which devices, as 4,5,6,7 or 4-7 (default: 0, 1 …)"
    )
    parser.add_argument(
        "--nodes", metavar="N", help="machines; MIN:MAX to go on with fewer or more (default: 1)"
    )
    parser.add_argument(
        "--rendezvous",
        metavar="HOST:PORT",
        help="where machines meet: one of them, and a free port on it (default port: 29500)",
    )
    parser.add_argument(
        "--node-rank",
        type=int,
        metavar="N",
        help="number of this machine (default: by rank table, or by address)",
    )
    parser.add_argument(
        "--rank-table",
        type=Path,
        metavar="FILE",
        help="take machines, devices and ranks from it; it is checked first",
    )


def _add_how(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", help="of the run, for logs and JOB_ID (default: by command)")
    parser.add_argument(
        "--env",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a variable for all ranks",
    )
    parser.add_argument(
        "--logs", type=Path, metavar="FOLDER", help="of the ranks' logs (default: logs/NAME)"
    )
    parser.add_argument(
        "--show", choices=("0", "all", "none"), help="whose output is shown live (default: 0)"
    )
    parser.add_argument(
        "--restarts",
        type=int,
        metavar="N",
        help="how often to start again after a rank failed (default: 3 for `trainferry train`, "
        "else 0)",
    )
    parser.add_argument(
        "--grace",
        type=seconds,
        metavar="SECONDS",
        help="that a rank has to end itself before it is killed (default: 30)",
    )
    parser.add_argument(
        "--wait",
        type=seconds,
        metavar="SECONDS",
        help="for machines that are missing (default: 600; with --check: 30)",
    )


def _add_instead(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dry-run", action="store_true", help="print environment and command of each rank only"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="try out the machines instead: versions, ports, clocks, disks, an all-reduce",
    )
    parser.add_argument(
        "--write", choices=_SCHEDULERS, help="write files for a scheduler instead of starting"
    )
    parser.add_argument(
        "--to", type=Path, metavar="FOLDER", help="of the files that --write writes"
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="of the scheduler, or image, device, time_limit_minutes, working_folder, "
        "data_folder, output_folder",
    )
    parser.add_argument(
        "--json", action="store_true", help="with --dry-run or --check: print it as JSON"
    )


def _say(text: str) -> None:
    mark = "" if text.startswith(("\n", "error")) else "launch: "
    print(f"{mark}{text}", file=sys.stderr, flush=True)
