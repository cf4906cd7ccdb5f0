"""The `trainferry` command: finds the command asked for, and turns errors into words."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
from collections.abc import Sequence

from trainferry import __version__
from trainferry.cli.parser import Parser
from trainferry.devices.autoload import guard_autoload
from trainferry.devices.crowd import share_cores
from trainferry.errors import TrainferryError, UsageError

# In the order of a user's way through the product.
COMMANDS = (
    "quickstart",
    "migrate",
    "rules",
    "rehearse",
    "data",
    "train",
    "evaluate",
    "compare",
    "predict",
    "export",
    "import_checkpoint",
    "benchmark",
    "launch",
    "ranktable",
    "doctor",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return 0 when done, 1 for a problem the user can fix, 2 for wrong usage."""
    _open_closed_streams()
    try:
        code = _run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
    except TrainferryError as error:
        _complain(str(error), error.hint)
        code = 2 if isinstance(error, UsageError) else 1
    except KeyboardInterrupt as stop:
        print(" ".join(["stopped", *map(str, stop.args)]), file=sys.stderr)
        code = 130
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("trainferry"):
            raise
        _complain(
            f"the package `{error.name}` is not installed, and this command needs it",
            "pip install 'trainferry[train]' installs all that training needs",
        )
        code = 1
    except BrokenPipeError:
        _drop_output()  # the reader of a pipe, `head` for example, has seen enough
        code = 0
    except OSError as error:
        _drop_output()
        _complain(_say(error), "check the path, that you may use it, and the space on the disk")
        code = 1
    return code


def _run(given: Sequence[str]) -> int:
    parser = build_parser()
    if not given:
        parser.print_help(sys.stderr)
        return 2
    parsed = parser.parse_args(given)
    shared = share_cores() if getattr(parsed, "computes", False) else None
    for note in (guard_autoload(), shared):
        if note is not None:
            print(note, file=sys.stderr)
    return int(parsed.run(parsed))


def build_parser() -> Parser:
    """Return the parser of all commands; no command's own packages are imported."""
    parser = Parser(prog="trainferry", description="Carries training across hardware.")
    parser.add_argument("--version", action="version", version=f"trainferry {__version__}")
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        importlib.import_module(f"trainferry.cli.{command}").add_parser(subparsers)
    return parser


def _open_closed_streams() -> None:
    """Give Python something to write to where the caller closed stdout or stderr.

    A path that is no UTF-8 is shown with backslashes rather than not at all.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _complain(problem: str, hint: str) -> None:
    print(f"error: {problem}\n\nhint: {hint}", file=sys.stderr)


def _say(error: OSError) -> str:
    """Return what the system says and of which file, without its number."""
    if error.filename is None or error.strerror is None:
        return error.strerror or str(error)
    return f"`{os.fsdecode(error.filename)}`: {error.strerror}"


def _drop_output() -> None:
    """Send the rest of stdout nowhere, or Python complains about it when it ends."""
    with contextlib.suppress(OSError, ValueError):
        place = sys.stdout.fileno()
        os.dup2(os.open(os.devnull, os.O_WRONLY), place)
