"""From the arguments of `trainferry launch` to what is started or written."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from trainferry.devices.crowd import SHARE
from trainferry.errors import UsageError
from trainferry.launch.environment import DEFAULT_PORT

if TYPE_CHECKING:
    from trainferry.launch.start.places import TableInUse
    from trainferry.launch.start.start import Start
    from trainferry.launch.write.plan import LaunchPlan

# What --option says of the plan itself; all others are the scheduler's.
_FOLDERS = ("working_folder", "data_folder", "output_folder")
_PLAN_OPTIONS = ("image", "device", "time_limit_minutes", *_FOLDERS)
# What only a start on this machine can heed: in a job, the scheduler's files decide.
_OPTIONS_OF_A_START = ("logs", "show", "grace", "wait", "node_rank")
_ONE_OR_A_RANGE = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?", re.ASCII)


def build_start(arguments: argparse.Namespace) -> Start:
    """What this machine starts; raises UsageError for what does not fit together."""
    from trainferry.launch.start.places import server_here
    from trainferry.launch.start.start import Start
    from trainferry.launch.write.plan import LaunchPlan

    _refuse_options(arguments)
    table = _table(arguments)
    least, values = _size(arguments, table)
    environment = {**_defaults(values["devices_per_node"]), **pairs("env", arguments.env)}
    plan = LaunchPlan(**_common(arguments), **values, environment=environment)
    node = arguments.node_rank
    if table is not None and not arguments.dry_run:
        node = server_here(table, node)
    return Start(
        plan=plan,
        least_nodes=least,
        rendezvous=_rendezvous(arguments.rendezvous, needed=arguments.dry_run and plan.nodes > 1),
        node=node,
        table=table,
        logs=(arguments.logs or Path("logs") / plan.name).absolute(),
        show=arguments.show or "0",
        grace_seconds=30.0 if arguments.grace is None else arguments.grace,
        wait_seconds=600.0 if arguments.wait is None else arguments.wait,
    )


def build_written_plan(arguments: argparse.Namespace) -> tuple[LaunchPlan, dict[str, str]]:
    """The plan of --write, and the options that are the scheduler's own."""
    from trainferry.launch.write.plan import LaunchPlan

    _refuse_options_of_a_start(arguments)
    table = _table(arguments)
    least, values = _size(arguments, table)
    if least != values["nodes"]:
        raise UsageError(
            "files for a scheduler ask for one number of machines",
            hint=f"--nodes {values['nodes']}",
        )
    options = pairs("option", arguments.option)
    more: dict[str, Any] = {key: options.pop(key) for key in _PLAN_OPTIONS if key in options}
    if table is not None:
        more["rank_table"] = table.path
        more["rank_table_json"] = arguments.rank_table.read_text(encoding="utf-8")
    if arguments.rendezvous:
        values["rendezvous_port"] = _rendezvous_port(arguments.rendezvous)
    environment = pairs("env", arguments.env)
    plan = LaunchPlan(**_common(arguments), **values, **_typed(more), environment=environment)
    return plan, options


def pairs(option: str, given: Sequence[str]) -> dict[str, str]:
    """`NAME=VALUE` texts as a dictionary."""
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"`{text}` is not a name and a value", hint=f"--{option} NAME=VALUE")
        found[name] = value
    return found


def _common(arguments: argparse.Namespace) -> dict[str, Any]:
    from trainferry.launch.start.start import is_our_command
    from trainferry.launch.write.plan import usable_name

    command = tuple(arguments.command) or ("trainferry",)
    ours = is_our_command(command)
    restarts = arguments.restarts
    if restarts is None:
        restarts = 3 if command[:2] == ("trainferry", "train") else 0
    return {
        "name": arguments.name or usable_name(_called(command)),
        "command": command,
        "starter": "torchrun" if ours else "ranks",
        "restarts": restarts,
    }


def _called(command: tuple[str, ...]) -> str:
    """What people would call a command: its script, or its own words."""
    plain = [word for word in command if not word.startswith("-")] or [command[0]]
    if plain[0] == "trainferry":
        return "-".join(plain[1:3]) or "check"
    scripts = [word for word in plain if word.endswith((".py", ".sh"))]
    return PurePosixPath((scripts or plain)[0]).stem


def _size(arguments: argparse.Namespace, table: TableInUse | None) -> tuple[int, dict[str, Any]]:
    """The least number of machines, and the plan's sizes."""
    from trainferry.launch.start.places import check_fit

    numbers = _numbers(arguments.device_numbers)
    devices = arguments.devices or len(numbers) or None
    least, most = _nodes(arguments.nodes)
    if table is None:
        return least or 1, {
            "nodes": most or 1,
            "devices_per_node": devices or 1,
            "device_numbers": numbers,
        }
    if numbers:
        raise UsageError(
            "the rank table says which devices are used", hint="leave out --device-numbers"
        )
    if least != most:
        raise UsageError(
            "a rank table has one number of machines", hint=f"--nodes {len(table.servers)}"
        )
    check_fit(table, most, devices)
    servers = table.servers
    return len(servers), {"nodes": len(servers), "devices_per_node": len(servers[0].devices)}


def _table(arguments: argparse.Namespace) -> TableInUse | None:
    from trainferry.launch.start.places import read_table_in_use

    return read_table_in_use(arguments.rank_table) if arguments.rank_table else None


def _nodes(text: str | None) -> tuple[int | None, int | None]:
    if text is None:
        return None, None
    low, colon, high = text.partition(":")
    high = high if colon else low
    if not low.isdecimal() or not high.isdecimal() or not 1 <= int(low) <= int(high):
        raise UsageError(f"`{text}` is not a number of machines", hint="--nodes 4, or --nodes 2:4")
    return int(low), int(high)


def _numbers(text: str | None) -> tuple[int, ...]:
    if text is None:
        return ()
    found: list[int] = []
    for part in text.split(","):
        named = _ONE_OR_A_RANGE.fullmatch(part.strip())
        numbers = range(int(named[1]), int(named[2] or named[1]) + 1) if named else range(0)
        if not numbers:
            raise UsageError(
                f"`{text}` are not numbers of devices", hint="--device-numbers 4,5,6,7 or 4-7"
            )
        found += numbers
    return tuple(found)


def _rendezvous(text: str | None, *, needed: bool) -> tuple[str, int] | None:
    if text is None:
        return ("HOST", DEFAULT_PORT) if needed else None
    host, colon, port = text.rpartition(":")
    if not colon or "]" in port:
        host, port = text, str(DEFAULT_PORT)
    if not host or not port.isdecimal() or not 1024 <= int(port) <= 65535:
        raise UsageError(
            f"`{text}` is not a host and a port from 1024 to 65535",
            hint="--rendezvous node-0:29500, the same on all machines",
        )
    return host.strip("[]"), int(port)


def _rendezvous_port(text: str) -> int:
    found = _rendezvous(text, needed=False)
    assert found is not None
    return found[1]


def _defaults(devices: int) -> dict[str, str]:
    """What a rank needs so as not to fight with its neighbours, unless the user has set it."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    share = str(max(1, cores // devices))
    wanted = {"PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": share}
    found = {name: value for name, value in wanted.items() if name not in os.environ}
    return {**found, SHARE: share} if "OMP_NUM_THREADS" in found else found


def _typed(options: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(options)
    for name in _FOLDERS:
        if name in found:
            found[name] = PurePosixPath(found[name])
    if "time_limit_minutes" in found:
        minutes = found.pop("time_limit_minutes")
        if not minutes.isdecimal():
            raise UsageError(
                f"`{minutes}` is not a number of minutes", hint="--option time_limit_minutes=90"
            )
        found["time_limit_seconds"] = 60 * int(minutes)
    if found.get("device", "npu") not in ("npu", "cuda", "cpu"):
        raise UsageError(
            f"there is no device `{found['device']}`", hint="--option device=npu, cuda or cpu"
        )
    return found


def _refuse_options_of_a_start(arguments: argparse.Namespace) -> None:
    given = [name for name in _OPTIONS_OF_A_START if getattr(arguments, name) is not None]
    if given:
        option = given[0].replace("_", "-")
        instead = "; `--option output_folder=/FOLDER` moves logs" if option == "logs" else ""
        raise UsageError(
            f"--{option} has no effect on the files that --write writes",
            hint=f"leave out --{option}{instead}",
        )


def _refuse_options(arguments: argparse.Namespace) -> None:
    for name in ("option", "to"):
        if getattr(arguments, name) and not (name == "option" and arguments.check):
            raise UsageError(
                f"--{name} is for files of a scheduler, and there is no --write",
                hint="add --write slurm, kubernetes or modelarts",
            )
