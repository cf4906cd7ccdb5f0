"""A rank table in the other template, with every value and every rank it had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from trainferry.errors import DataError
from trainferry.launch.ranktable.table import (
    SERVER_LIST_VERSION,
    SUPER_POD_VERSION,
    RankTable,
    Server,
    name_entry,
    number_as_hccl,
)


def convert_table(
    table: RankTable, template: Literal["server-list", "group-list"], *, renumber: bool
) -> RankTable:
    """The same servers, devices and ranks in `template`; DataError where it cannot say them.

    A group list holds no ranks: HCCL numbers by server id. Only with `renumber` may the ranks
    become others by that.
    """
    if table.template == template:
        return table
    if template == "server-list":
        return _to_server_list(table)
    return _to_group_list(table, renumber=renumber)


def _to_server_list(table: RankTable) -> RankTable:
    if table.homeless:
        raise DataError(
            f"a server list has no place for {', '.join(table.homeless[:4])}",
            hint="delete these keys first: HCCL does not read them",
        )
    ordered = sorted(table.servers, key=_first_rank)
    servers = tuple(
        replace(server, devices=tuple(sorted(server.devices, key=lambda device: device.rank)))
        for server in ordered
    )
    return replace(
        table, template="server-list", servers=servers, version=SERVER_LIST_VERSION, counts=()
    )


def _to_group_list(table: RankTable, *, renumber: bool) -> RankTable:
    if table.version == SUPER_POD_VERSION:
        raise DataError(
            "a group list has no place for super pods", hint="keep the server list, version 1.2"
        )
    servers = number_as_hccl(table.servers)
    if not renumber:
        _check_same_ranks(table.servers, servers)
    ordered = tuple(sorted(servers, key=_first_rank))
    return replace(table, template="group-list", servers=ordered, version="", counts=())


def _check_same_ranks(before: Sequence[Server], after: Sequence[Server]) -> None:
    for server, numbered in zip(before, after, strict=True):
        for device, other in zip(server.devices, numbered.devices, strict=True):
            if device.rank != other.rank:
                raise DataError(
                    f"{name_entry(server, device)} would have rank {other.rank} in a group list, "
                    "which holds no ranks: HCCL numbers by server id as text, then by device id",
                    hint="`--renumber` takes these ranks; ids that sort as text, such as "
                    "`node-01`, keep them",
                )


def _first_rank(server: Server) -> int:
    return min(device.rank for device in server.devices)
