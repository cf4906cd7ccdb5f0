"""What a rank table says, whichever of the vendor's templates it is written in.

    server list         version 1.0: servers, their devices, each with its rank
    group list          groups, instances (containers), their devices; ranks are not written,
                        HCCL numbers the devices by server id and device id
    group list (lab)    the group list of early releases, with a rank in each instance

Source: CANN, HCCL user guide, "Rank table configuration" for Atlas training products, and
HCCL's own reader for how a group list is numbered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

Template: TypeAlias = Literal["server-list", "group-list", "group-list-lab"]
JsonObject: TypeAlias = Mapping[str, Any]

TEMPLATE_WORDS: dict[Template, str] = {
    "server-list": "server list",
    "group-list": "group list",
    "group-list-lab": "group list of early releases",
}
DEFAULT_GROUP = "hccl_world_group"
COMPLETED = "completed"
SERVER_LIST_VERSION = "1.0"
SUPER_POD_VERSION = "1.2"


@dataclass(frozen=True)
class Device:
    """One device of a server. `address` is as written: empty, one, or several with commas.

    `extra` holds keys that HCCL does not read; they are kept.
    """

    id: int
    rank: int
    address: str = ""
    pod: str = ""
    group: str = DEFAULT_GROUP
    extra: JsonObject = field(default_factory=dict)

    @property
    def addresses(self) -> list[str]:
        return self.address.split(",") if self.address else []


@dataclass(frozen=True)
class Server:
    """One server with those of its devices that take part."""

    id: str
    devices: tuple[Device, ...]
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True)
class Count:
    """A number of things that the file states, beside what is there.

    `is_required`: HCCL does not count for itself.
    """

    where: str
    key: str
    stated: int | None
    found: int
    is_required: bool = True


@dataclass(frozen=True)
class RankTable:
    """All servers of a job. `homeless` names keys that only this template has a place for."""

    template: Template
    servers: tuple[Server, ...]
    status: str = COMPLETED
    version: str = ""
    counts: tuple[Count, ...] = ()
    extra: JsonObject = field(default_factory=dict)
    homeless: tuple[str, ...] = ()

    @property
    def entries(self) -> Iterator[tuple[Server, Device]]:
        """Every device with its server, in the order of the file."""
        for server in self.servers:
            for device in server.devices:
                yield server, device

    @property
    def size(self) -> int:
        return sum(len(server.devices) for server in self.servers)

    @property
    def has_written_ranks(self) -> bool:
        return self.template != "group-list"


def name_entry(server: Server, device: Device | None = None) -> str:
    """How messages call a server, or a device of it."""
    if device is None:
        return f"server `{server.id}`"
    return f"server `{server.id}`, device {device.id} (rank {device.rank})"


def number_as_hccl(servers: Iterable[Server]) -> tuple[Server, ...]:
    """The servers with the ranks that HCCL gives the devices of a group list.

    It sorts servers by their id as text, so `node-10` comes before `node-2`, and the devices
    of each by device id; the order of the file does not matter.
    """
    given = list(servers)
    entries = [(server.id, device.id) for server in given for device in server.devices]
    ranks = {entry: rank for rank, entry in enumerate(sorted(entries))}
    return tuple(
        replace(
            server,
            devices=tuple(
                replace(device, rank=ranks[server.id, device.id]) for device in server.devices
            ),
        )
        for server in given
    )


def shorten_numbers(numbers: Iterable[int]) -> str:
    """Numbers as people write them: 0-3, 6, 8-15."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1][-1:] = [runs[-1][-1], number] if len(runs[-1]) == 1 else [number]
        else:
            runs.append([number])
    return ", ".join("-".join(map(str, run)) for run in runs)


def count_of(number: int, thing: str) -> str:
    """`1 server`, `2 servers`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def listed(names: Sequence[str], most: int = 4) -> str:
    """Names in a sentence; what is too many is counted."""
    shown = [f"`{name}`" for name in names[:most]]
    rest = len(names) - most
    if rest > 0:
        return ", ".join(shown) + f" and {rest:,} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
