"""Where each rank runs: machine, number there and device, in order or as a rank table says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from trainferry.errors import UsageError
from trainferry.launch.environment import rank_environment
from trainferry.launch.ranktable.check import check_reading, require_sound
from trainferry.launch.ranktable.explain import environment_of, find_rank
from trainferry.launch.ranktable.reading import read_table
from trainferry.launch.ranktable.table import RankTable, Server, count_of, listed
from trainferry.launch.start.machine import is_this_machine
from trainferry.launch.write.plan import LaunchPlan


@dataclass(frozen=True)
class Place:
    """One rank: its machine, its number on that machine, its device there."""

    rank: int
    node: int
    local_rank: int
    device: int


@dataclass(frozen=True)
class TableInUse:
    """A rank table that is sound and fits, with the path that ranks find it by."""

    table: RankTable
    path: PurePosixPath

    @property
    def servers(self) -> list[Server]:
        """The machines in the order of their ranks."""
        return sorted(self.table.servers, key=lambda one: min(_ranks(one)))


def read_table_in_use(path: Path) -> TableInUse:
    """Check the table by all rules; raises DataError with its errors, UsageError if unequal."""
    table = require_sound(check_reading(read_table(path), None), f"`{path}`")
    sizes = {len(server.devices) for server in table.servers}
    if len(sizes) > 1:
        raise UsageError(
            f"the servers of `{path}` have {min(sizes)} to {max(sizes)} devices",
            hint="`trainferry launch` starts equally many ranks on each machine: use a table "
            "with equally many devices",
        )
    return TableInUse(table, PurePosixPath(path.resolve()))


def check_fit(used: TableInUse, nodes: int | None, devices: int | None) -> None:
    """Raise UsageError when what was asked for is not what the table has."""
    servers, each = len(used.servers), len(used.servers[0].devices)
    if (nodes or servers) == servers and (devices or each) == each:
        return
    asked = f"{count_of(nodes or servers, 'machine')} with {count_of(devices or each, 'device')}"
    raise UsageError(
        f"the rank table {used.path.name} does not fit {asked}",
        hint=f"it fits --nodes {servers} --devices {each}; leave both out to take them from it",
    )


def server_here(used: TableInUse, node: int | None) -> int:
    """Which machine of the table this one is; `node` where the user said so."""
    servers = used.servers
    if node is not None:
        return node
    if len(servers) == 1:
        return 0
    names = [(one.id, str(one.extra.get("host_ip", ""))) for one in servers]
    found = [
        place for place, own in enumerate(names) if any(map(is_this_machine, filter(None, own)))
    ]
    if len(found) == 1:
        return found[0]
    ids = listed([one.id for one in servers])
    raise UsageError(
        f"this machine is not one server of the rank table, which has {ids}",
        hint=f"say which one it is with --node-rank, 0 to {len(servers) - 1}",
    )


def places_of(plan: LaunchPlan, used: TableInUse | None) -> list[Place]:
    """All ranks in their order."""
    if used is None:
        each = plan.devices_per_node
        return [
            Place(rank, rank // each, rank % each, plan.devices[rank % each])
            for rank in range(plan.ranks)
        ]
    found = [
        Place(device.rank, node, local_rank, device.id)
        for node, server in enumerate(used.servers)
        for local_rank, device in enumerate(sorted(server.devices, key=lambda one: one.rank))
    ]
    return sorted(found, key=lambda place: place.rank)


def variables_of(plan: LaunchPlan, place: Place, used: TableInUse | None) -> dict[str, str]:
    """The environment of the rank at a place, without what is known only once ranks start."""
    if used is None:
        found = rank_environment(plan, place.rank)
        found |= _visible(plan, place)
    else:
        plan = replace(plan, rank_table=used.path)
        _, device = find_rank(used.table, place.rank)
        found = rank_environment(plan, place.rank)
        found |= environment_of(used.table, device, str(used.path))
    return found | {"RANK_INDEX": str(place.node), "LOCAL_RANK": str(place.local_rank)}


def _visible(plan: LaunchPlan, place: Place) -> dict[str, str]:
    """For our networks, which count the devices they see from 0: let them see those asked for.

    A migrated project takes DEVICE_ID as it is, and must see all devices for that.
    """
    if not plan.device_numbers or plan.starter != "torchrun":
        return {}
    numbers = ",".join(map(str, plan.device_numbers))
    seen = dict.fromkeys(("ASCEND_RT_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"), numbers)
    return {**seen, "ASCEND_DEVICE_ID": str(place.local_rank)}


def _is_here(server: Server) -> bool:
    names = (server.id, str(server.extra.get("host_ip", "")))
    return any(name and is_this_machine(name) for name in names)


def _ranks(server: Server) -> list[int]:
    return [device.rank for device in server.devices]
