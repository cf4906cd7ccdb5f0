"""What is to be started on this machine, and with whom."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from trainferry.errors import UsageError
from trainferry.launch.start.places import TableInUse
from trainferry.launch.write.plan import LaunchPlan

Show = Literal["0", "all", "none"]


@dataclass(frozen=True, kw_only=True)
class Start:
    """A plan, and how this machine takes part in it.

    `plan.nodes` is the largest number of machines, `least_nodes` the smallest. Without a
    `rendezvous` the run is on this machine alone. `node` is this machine's number, None where
    the order of the addresses decides.
    """

    plan: LaunchPlan
    least_nodes: int = 1
    rendezvous: tuple[str, int] | None = None
    node: int | None = None
    table: TableInUse | None = None
    logs: Path = Path("logs")
    show: Show = "0"
    grace_seconds: float = 30.0
    wait_seconds: float = 600.0

    def __post_init__(self) -> None:
        if self.plan.nodes > 1 and self.rendezvous is None:
            raise UsageError(
                f"{self.plan.nodes} machines have to find each other",
                hint="give --rendezvous HOST:PORT, the same on all of them; HOST is one of them",
            )
        if self.node is not None and not 0 <= self.node < self.plan.nodes:
            raise UsageError(
                f"there is no machine {self.node} among {self.plan.nodes}",
                hint=f"--node-rank is 0 to {self.plan.nodes - 1}",
            )


def is_our_command(command: tuple[str, ...]) -> bool:
    """Whether the command is `trainferry …`, whose ranks are torchrun's."""
    return command[:1] == ("trainferry",)


def words_to_run(command: tuple[str, ...]) -> tuple[str, ...]:
    """The command as it is started: `trainferry` with the Python that runs now."""
    if is_our_command(command):
        return (sys.executable, "-P", "-m", "trainferry", *command[1:])
    if shutil.which(command[0]) is None:
        raise UsageError(
            f"there is no command `{command[0]}`",
            hint="check its name, and that it may be executed; for a Python file write "
            "`python FILE`",
        )
    return command
