"""What is to be started, and where: all that the files of any scheduler are written from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal

from trainferry.errors import UsageError
from trainferry.launch.environment import VARIABLES

DeviceKind = Literal["npu", "cuda", "cpu"]
# torchrun: one agent a machine starts the ranks and starts them again. ranks: the command itself,
# once for each rank, with the variables of `launch.environment`; needs bash, and no torch.
Starter = Literal["torchrun", "ranks"]

LONGEST_NAME = 40
# HCCL accepts no other values; the originals wait for 600 s.
CONNECT_TIMEOUT_SECONDS = range(120, 7201)
_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_SET_FOR_A_RANK = frozenset(one.name for one in VARIABLES)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, kw_only=True)
class LaunchPlan:
    """One command on all devices of some machines. Folders are those of the machines.

    Raises UsageError when it is made from values that no scheduler could use.
    """

    name: str
    command: tuple[str, ...]
    nodes: int = 1
    devices_per_node: int = 1
    device: DeviceKind = "npu"
    starter: Starter = "torchrun"
    image: str | None = None
    time_limit_seconds: int | None = None
    working_folder: PurePosixPath | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    rank_table: PurePosixPath | None = None
    rank_table_json: str | None = None  # its content, where it is at hand
    rendezvous_port: int | None = None  # None: the scheduler's usual one
    restarts: int = 3
    data_folder: PurePosixPath | None = None
    output_folder: PurePosixPath | None = None
    device_numbers: tuple[int, ...] = ()  # of one machine; empty: 0, 1, 2, …
    connect_timeout_seconds: int = 600

    def __post_init__(self) -> None:
        for problem, hint in _problems(self):
            raise UsageError(problem, hint=hint)

    @property
    def ranks(self) -> int:
        return self.nodes * self.devices_per_node

    @property
    def devices(self) -> tuple[int, ...]:
        """The numbers of the devices that a machine's ranks use, in the order of the ranks."""
        return self.device_numbers or tuple(range(self.devices_per_node))

    @property
    def logs_folder(self) -> PurePosixPath:
        """Where the ranks' output is kept; relative to the working folder without an output."""
        return (self.output_folder or PurePosixPath()) / "logs"


def usable_name(text: str) -> str:
    """`text` as a name that all schedulers take: lower case letters, digits and hyphens."""
    name = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    if not name or not name[0].isalpha():
        name = f"run-{name}".rstrip("-")
    return name[:LONGEST_NAME].rstrip("-")


def _problems(plan: LaunchPlan) -> Iterator[tuple[str, str]]:
    """What is wrong and what to do, the first thing first."""
    if not _NAME.fullmatch(plan.name) or len(plan.name) > LONGEST_NAME:
        yield (
            f"`{_shown(plan.name)}` cannot be the name of a job everywhere",
            f"use at most {LONGEST_NAME} lower case letters, digits and hyphens, a letter first: "
            f"{usable_name(plan.name)}",
        )
    if not plan.command or not plan.command[0]:
        yield "there is no command to start", "give it after `--`"
    yield from _wrong_texts(plan)
    yield from _wrong_numbers(plan)
    yield from _wrong_folders(plan)


def _wrong_numbers(plan: LaunchPlan) -> Iterator[tuple[str, str]]:
    least_one = "give 1 or more"
    if plan.nodes < 1:
        yield f"{plan.nodes} machines cannot run anything", least_one
    if plan.devices_per_node < 1:
        yield f"{plan.devices_per_node} devices a machine cannot run anything", least_one
    if plan.time_limit_seconds is not None and plan.time_limit_seconds < 60:
        yield f"a time limit of {plan.time_limit_seconds} s ends before it began", "give minutes"
    if plan.restarts < 0:
        yield f"a run cannot restart {plan.restarts} times", "give 0 or more"
    if plan.rendezvous_port is not None and plan.rendezvous_port not in range(1024, 65536):
        yield f"port {plan.rendezvous_port} cannot be used", "give one from 1024 to 65535"
    if plan.connect_timeout_seconds not in CONNECT_TIMEOUT_SECONDS:
        yield (
            f"HCCL cannot wait {plan.connect_timeout_seconds} s for other ranks",
            "give 120 to 7200 seconds",
        )
    numbers = plan.device_numbers
    if numbers and (len(set(numbers)) != plan.devices_per_node or min(numbers) < 0):
        yield (
            f"{plan.devices_per_node} devices a machine, but numbers {_listed(numbers)}",
            "give each device of a machine once, or none to use 0, 1, 2, …",
        )


def _wrong_texts(plan: LaunchPlan) -> Iterator[tuple[str, str]]:
    for name, value in plan.environment.items():
        if not _VARIABLE.fullmatch(name):
            yield (
                f"`{_shown(name)}` cannot be the name of a variable",
                "use letters, digits and underscores, no digit first",
            )
        if name in _SET_FOR_A_RANK:
            yield f"`{name}` is set for each rank", f"remove `{name}` from the environment"
        if name.startswith("CM_"):
            yield (
                f"`{name}` excludes RANK_SIZE, RANK_ID and RANK_TABLE_FILE, which are set",
                "use the rank table, or start the command by hand with the CM_ variables",
            )
        yield from _unwritable(f"the variable {name}", value)
    for word in plan.command:
        yield from _unwritable("the command", word)
    for folder in (plan.working_folder, plan.data_folder, plan.output_folder, plan.rank_table):
        yield from _unwritable("a folder", str(folder or ""))
    if plan.image is not None and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._:/@#+-]*", plan.image):
        yield f"`{_shown(plan.image)}` is not the name of an image", "for example name:tag"


def _wrong_folders(plan: LaunchPlan) -> Iterator[tuple[str, str]]:
    named = {
        "working folder": plan.working_folder,
        "data folder": plan.data_folder,
        "output folder": plan.output_folder,
        "rank table": plan.rank_table,
    }
    for what, path in named.items():
        if path is not None and (not path.is_absolute() or ".." in path.parts):
            yield (
                f"the {what} `{_shown(str(path))}` is not found from everywhere",
                "give it from the root, as the machines of the job see it",
            )
        if path is not None and not str(path).isprintable():
            yield f"the {what} `{_shown(str(path))}` holds a line end or the like", "rename it"


def _unwritable(what: str, text: str) -> Iterator[tuple[str, str]]:
    """Text that no file or no process can hold."""
    if "\0" in text:
        yield f"{what} holds a zero byte", "remove it"
    if any("\ud800" <= character <= "\udfff" for character in text):
        yield f"{what} is not readable text: `{_shown(text)}`", "write it in UTF-8"


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers))


def _shown(text: str) -> str:
    """`text` on one line of a message."""
    return text.encode("unicode_escape").decode("ascii") if not text.isprintable() else text
