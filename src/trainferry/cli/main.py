"""The `trainferry` command: finds the command asked for, and turns errors into words."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import itertools
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from trainferry import __version__
from trainferry.cli.parser import Parser
from trainferry.devices.autoload import guard_autoload
from trainferry.devices.crowd import share_cores
from trainferry.errors import TrainferryError, UsageError

if TYPE_CHECKING:
    from trainferry.cli.subparsers import Subparsers

# In the order of a user's way through the product.
COMMANDS = {
    "First look": ("quickstart", "doctor"),
    "Move TensorFlow 1.15 projects to Ascend NPUs": ("migrate", "rules", "rehearse"),
    "Train": (
        *("data", "train", "evaluate", "compare", "predict"),
        *("export", "import-checkpoint", "benchmark"),
    ),
    "Many devices, many machines": ("launch", "ranktable"),
}
ABOUT = """Carries training across hardware: moves TensorFlow 1.15 projects to Ascend NPUs,
and trains CRNN, Attention-OCR, ResNet, DenseNet and HRNet in PyTorch on CPUs,
NVIDIA GPUs and Ascend NPUs."""


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
    if not getattr(parsed, "takes_long", False):
        shared = None  # threads wait as they should; nobody waits long enough to be told
    for note in (guard_autoload(), shared):
        if note is not None:
            print(note, file=sys.stderr)
    return int(parsed.run(parsed))


def build_parser() -> Parser:
    """Return the parser of all commands; no command's own packages are imported."""
    layout = argparse.RawDescriptionHelpFormatter
    usage = "trainferry [-h] [--version] COMMAND ..."
    parser = Parser("trainferry", usage, ABOUT, formatter_class=layout)
    parser.add_argument("--version", action="version", version=f"trainferry {__version__}")
    subparsers = parser.add_subparsers(
        prog="trainferry", required=True, metavar="COMMAND", help=argparse.SUPPRESS
    )
    for command in itertools.chain(*COMMANDS.values()):
        module = command.replace("-", "_")
        importlib.import_module(f"trainferry.cli.{module}").add_parser(subparsers)
    parser.epilog = _overview(subparsers)
    return parser


def _overview(subparsers: Subparsers) -> str:
    """Say what each command does, below headings, which argparse cannot have among commands."""
    meanings = {each.dest: each.help for each in subparsers._choices_actions}
    width = max(map(len, meanings))
    lines = []
    for heading, commands in COMMANDS.items():
        lines += [f"{heading}:", *(f"  {name:<{width}}  {meanings[name]}" for name in commands), ""]
    return "\n".join([*lines, "`trainferry COMMAND --help` shows how one is used."])


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
