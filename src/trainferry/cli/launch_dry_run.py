"""What `trainferry launch --dry-run` shows: the environment and command of each rank."""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trainferry.launch.start.start import Start


def print_dry_run(start: Start, *, as_json: bool) -> None:
    """A table on a terminal, a line to a rank in a pipe, or JSON."""
    ranks = _ranks(start)
    if as_json:
        print(json.dumps({"name": start.plan.name, "ranks": ranks}, indent=2))
        return
    if sys.stdout.isatty() and _print_table(ranks):
        return
    for one in ranks:
        words = [f"{name}={shlex.quote(value)}" for name, value in one["environment"].items()]
        print(f"rank {one['rank']}: {' '.join(words)} {shlex.join(one['command'])}")


def _ranks(start: Start) -> list[dict[str, Any]]:
    from trainferry.launch.start.places import places_of, variables_of

    plan, table = start.plan, start.table
    return [
        {
            "rank": place.rank,
            "machine": table.servers[place.node].id if table else place.node,
            "device": place.device,
            "environment": variables_of(plan, place, table),
            "command": list(plan.command),
        }
        for place in places_of(plan, table)
    ]


def _print_table(ranks: list[dict[str, Any]]) -> bool:
    """What is the same for all ranks once, what differs as a table; False without rich."""
    try:
        from rich.console import Console
        from rich.table import Table
    except ImportError:
        return False
    console = Console(highlight=False)
    columns, named_by, common = _grouped(ranks)
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in columns:
        table.add_column(heading, no_wrap=True)
    for row in zip(*columns.values(), strict=True):
        table.add_row(*row)
    console.print(table)
    console.print("\n[bold]variables[/]")
    for column, names in named_by.items():
        console.print(f"  {', '.join(names)}: the {column}", markup=False)
    for name, value in common.items():
        console.print(f"  {name}={shlex.quote(value)}", markup=False, soft_wrap=True)
    console.print("\n[bold]command[/]")
    console.print(f"  {shlex.join(ranks[0]['command'])}", markup=False, soft_wrap=True)
    return True


_Grouped = tuple[dict[str, list[str]], dict[str, list[str]], dict[str, str]]


def _grouped(ranks: list[dict[str, Any]]) -> _Grouped:
    """The columns of the table, the variables that hold each, and those that never differ."""
    columns = {key: [str(one[key]) for one in ranks] for key in ("rank", "machine", "device")}
    named_by: dict[str, list[str]] = {}
    common: dict[str, str] = {}
    for name in ranks[0]["environment"]:
        values = [one["environment"][name] for one in ranks]
        if len(set(values)) == 1 and len(ranks) > 1:
            common[name] = values[0]
            continue
        same = next((column for column, held in columns.items() if held == values), None)
        if same is None:
            columns[name] = values
        else:
            named_by.setdefault(same, []).append(name)
    return columns, {key: names for key, names in named_by.items() if names != [key]}, common
