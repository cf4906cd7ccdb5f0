"""A rank table in plain words: servers, devices, ranks, links, and what each process needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainferry.errors import UsageError
from trainferry.launch.ranktable.chips import Chip
from trainferry.launch.ranktable.table import (
    COMPLETED,
    TEMPLATE_WORDS,
    Device,
    RankTable,
    Server,
    count_of,
    shorten_numbers,
)

_MOST_ROWS = 16


def explain_table(table: RankTable, chip: Chip, name: str) -> str:
    """The whole table."""
    parts = [
        _summary(table, name),
        _rows(table),
        "\n".join(_links(table, chip)),
        _needs(table, name),
    ]
    return "\n\n".join(parts)


def explain_rank(table: RankTable, rank: int, name: str) -> str:
    """One rank: where it runs and its environment."""
    server, device = find_rank(table, rank)
    neighbours = [other.rank for other in server.devices if other is not device]
    lines = [f"rank {rank} runs on device {device.id} of server `{server.id}`."]
    if device.address:
        lines.append(f"Other servers reach it at {device.address}.")
    if neighbours:
        ranks = "rank" if len(neighbours) == 1 else "ranks"
        lines.append(f"On the same server: {ranks} {shorten_numbers(neighbours)}.")
    lines += ["", "Its environment:"]
    lines += [f"  {key}={value}" for key, value in environment_of(table, device, name).items()]
    return "\n".join(lines)


def describe_table(table: RankTable, name: str, rank: int | None) -> dict[str, Any]:
    """The same as JSON: every rank, or one, with its server, device, address and environment."""
    found = [find_rank(table, rank)] if rank is not None else list(table.entries)
    return {
        "template": table.template,
        "status": table.status,
        "servers": len(table.servers),
        "devices": table.size,
        "ranks": [
            {
                "rank": device.rank,
                "server": server.id,
                "device": device.id,
                "address": device.address,
                "environment": environment_of(table, device, name),
            }
            for server, device in sorted(found, key=lambda entry: entry[1].rank)
        ],
    }


def find_rank(table: RankTable, rank: int) -> tuple[Server, Device]:
    for server, device in table.entries:
        if device.rank == rank:
            return server, device
    raise UsageError(f"there is no rank {rank}", hint=f"the table has ranks 0 to {table.size - 1}")


def environment_of(table: RankTable, device: Device, path: str) -> dict[str, str]:
    """What the process of a device must have in its environment.

    With a group list, RANK_ID is the name of the instance; HCCL finds the device itself.
    """
    return {
        "RANK_TABLE_FILE": path,
        "RANK_SIZE": str(table.size),
        "RANK_ID": device.pod if table.template == "group-list" else str(device.rank),
        "DEVICE_ID": str(device.id),
        "ASCEND_DEVICE_ID": str(device.id),
    }


def _summary(table: RankTable, name: str) -> str:
    words = TEMPLATE_WORDS[table.template]
    version = f", version {table.version}" if table.version else ""
    ready = "ready for use" if table.status == COMPLETED else f"not ready: `{table.status}`"
    each = {len(server.devices) for server in table.servers}
    servers = count_of(len(table.servers), "server")
    if len(each) == 1:
        inside = f"{servers} with {count_of(each.pop(), 'device')}"
        inside += " each" if len(table.servers) > 1 else ""
    else:
        inside = f"{servers} with {min(each)} to {max(each)} devices"
    if len(table.servers) > 1:
        inside += f", {table.size:,} devices in all"
    return f"`{name}` is a {words}{version}, {ready}.\nIt describes {inside}: one process on each."


def _rows(table: RankTable) -> str:
    servers = sorted(table.servers, key=lambda server: min(one.rank for one in server.devices))
    shown = servers if len(servers) <= _MOST_ROWS else [*servers[: _MOST_ROWS - 2], servers[-1]]
    rows = [("ranks", "server", "devices", "addresses"), *map(_row, shown)]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = [
        "  "
        + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False))
        + f"  {row[3]}"
        for row in rows
    ]
    if len(shown) < len(servers):
        lines.insert(-1, f"  ... {count_of(len(servers) - len(shown), 'server')} more")
    return "\n".join(line.rstrip() for line in lines)


def _row(server: Server) -> tuple[str, str, str, str]:
    ranks = shorten_numbers(device.rank for device in server.devices)
    ids = shorten_numbers(device.id for device in server.devices)
    return ranks, server.id, ids, _span(server)


def _span(server: Server) -> str:
    addresses = [device.address for device in server.devices if device.address]
    if not addresses:
        return "none"
    if len(addresses) == 1:
        return addresses[0]
    return f"{addresses[0]} ... {addresses[-1]}"


def _links(table: RankTable, chip: Chip) -> Iterator[str]:
    yield f"Inside a server of the {chip.name} ({chip.products}),"
    yield f"{chip.links}."
    if len(table.servers) == 1:
        yield "There is one server: nothing goes over a network between servers."
        return
    networks = _networks(table)
    if not networks:
        yield "Servers talk over the addresses of their devices; this table names none."
        return
    yield "Servers talk over the addresses of their devices:"
    for network, ids in list(networks.items())[:_MOST_ROWS]:
        yield f"  {network}  devices {shorten_numbers(ids)}"
    if len(networks) > _MOST_ROWS:
        yield f"  ... {count_of(len(networks) - _MOST_ROWS, 'network')} more"


def _networks(table: RankTable) -> dict[str, set[int]]:
    """Which devices have addresses that begin alike."""
    found: dict[str, set[int]] = {}
    for _, device in table.entries:
        for address in device.addresses:
            begin, dot, _ = address.rpartition("." if "." in address else ":")
            found.setdefault(f"{begin}{dot}x", set()).add(device.id)
    return found


def _needs(table: RankTable, name: str) -> str:
    _, last = max(table.entries, key=lambda entry: entry[1].rank)
    environment = environment_of(table, last, name)
    pairs = " ".join(f"{key}={value}" for key, value in environment.items())
    lines = [f"Each process needs its environment; that of rank {last.rank}:", f"  {pairs}"]
    if table.template == "group-list":
        lines.append(
            "A group list holds no ranks: HCCL numbers by server id as text, then by device id,\n"
            "and RANK_ID is the name of the instance."
        )
    return "\n".join(lines)
