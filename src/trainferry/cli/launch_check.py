"""What `trainferry launch --check` does: a preflight on all ranks, and its report."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainferry.launch.start.start import Start
    from trainferry.launch.write.plan import DeviceKind

_COME_SECONDS = 15.0
_MISSING_SECONDS = 30.0


def check(start: Start, arguments: argparse.Namespace) -> int:
    """Run the preflight on the ranks of this machine; returns 0 when the run can start."""
    from trainferry.launch.preflight.report import read_report
    from trainferry.launch.start.run import start_ranks

    with tempfile.TemporaryDirectory(prefix="trainferry-check-") as folder:
        checking = _checking(start, arguments, Path(folder))
        outcome = start_ranks(checking, _say)
        if outcome.status > 128:
            return outcome.status
        report = read_report(Path(folder) / "report")
        if not report.ok and outcome.failure is None:
            _say(f"note: {outcome.reason}")
    if arguments.json:
        print(json.dumps(report.to_json(), indent=2))
    else:
        from trainferry.launch.preflight.show import format_report

        is_terminal = sys.stdout.isatty()
        columns = shutil.get_terminal_size().columns if is_terminal else None
        colour = is_terminal and "NO_COLOR" not in os.environ
        print(format_report(report, colour=colour, columns=columns))
    return 0 if report.ok else 1


def _checking(start: Start, arguments: argparse.Namespace, folder: Path) -> Start:
    from trainferry.cli.launch_start import pairs
    from trainferry.devices.device import choose_device
    from trainferry.devices.joining import library_of
    from trainferry.launch.preflight.command import preflight_command

    device = choose_device(pairs("option", arguments.option).get("device", "auto"))
    plan = replace(start.plan, device=_kind(device.type), restarts=0)
    command = preflight_command(
        plan,
        _COME_SECONDS,
        backend=library_of(device),
        facts=_driver_facts(),
        report=folder / "report",
        folders=(start.logs.parent,) if start.logs.parent.is_dir() else (),
    )
    waits = arguments.wait if arguments.wait is not None else _MISSING_SECONDS
    plan = replace(plan, command=command)
    return replace(start, plan=plan, logs=folder / "logs", show="none", wait_seconds=waits)


def _kind(name: str) -> DeviceKind:
    found: dict[str, DeviceKind] = {"npu": "npu", "cuda": "cuda", "cpu": "cpu"}
    return found[name]


def _driver_facts() -> dict[str, str]:
    """Versions of drivers and toolkits, which must be the same on all machines."""
    from trainferry.devices.facts import find_facts

    return {
        fact.name: fact.value
        for fact in find_facts(Path.cwd())
        if fact.group == "devices" and fact.state == "ok" and ":" not in fact.name  # no version
    }


def _say(text: str) -> None:
    if text.startswith("started"):
        return  # where its ranks write is removed with the check
    print(f"launch: {text}", file=sys.stderr, flush=True)
