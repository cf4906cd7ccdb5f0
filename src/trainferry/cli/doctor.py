"""trainferry doctor: what is here, what is missing, what to do."""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from trainferry.counted import counted

if TYPE_CHECKING:
    from trainferry.cli.subparsers import Subparsers
    from trainferry.devices.fact import Fact

_COLOURS = {"ok": "\033[32m", "missing": "\033[2m", "problem": "\033[31m"}
_PLAIN = "\033[0m"


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "doctor",
        help="check this machine, or explain error codes of Ascend NPUs",
        description="Check this machine: packages, drivers and devices, with what is missing and "
        "what to do. Exits with 1 when training cannot run here.",
    )
    parser.add_argument(
        "--explain",
        nargs="*",
        metavar="CODE/LOG",
        help="instead: what codes such as EI0006, 507011 or ERR02200 mean, or those in logs; "
        "- is standard input; without one, lists all",
    )
    parser.add_argument("--json", action="store_true", help="print the facts as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from trainferry.cli.doctor_explain import explain

    if arguments.explain is not None:
        return explain(arguments.explain, as_json=arguments.json)
    return _look(arguments)


def _look(arguments: argparse.Namespace) -> int:
    from trainferry.devices.facts import can_train, find_facts

    facts = find_facts(Path.cwd())
    ready = can_train(facts)
    if arguments.json:
        print(json.dumps({"can_train": ready, "facts": [asdict(fact) for fact in facts]}, indent=2))
    else:
        print(_table(facts, colour=_wants_colour()))
        print(_verdict(facts, ready))
    return 0 if ready else 1


def _wants_colour() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def _table(facts: list[Fact], *, colour: bool) -> str:
    width = max(len(fact.name) for fact in facts)
    lines = []
    for group in dict.fromkeys(fact.group for fact in facts):
        lines.append(group)
        for fact in (each for each in facts if each.group == group):
            state = f"{fact.state:<7}"
            if colour:
                state = f"{_COLOURS[fact.state]}{state}{_PLAIN}"
            lines.append(f"  {state}  {fact.name:<{width}}  {fact.value}")
            if fact.advice:
                lines.append(f"  {'':<7}  {'':<{width}}  -> {fact.advice}")
    return "\n".join(lines)


def _verdict(facts: list[Fact], ready: bool) -> str:
    problems = sum(fact.state == "problem" for fact in facts)
    told = f"{counted(problems, 'problem')} to look at"
    if not ready:
        return f"\ntraining cannot run here yet: {told}"
    return "\ntraining can run here" + (f"; {told}" if problems else "")
