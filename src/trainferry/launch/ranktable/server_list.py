"""The server list, version 1.0: read and written.

    {"status": "completed", "version": "1.0", "server_count": "1", "server_list": [
      {"server_id": "node_0", "device": [
        {"device_id": "0", "device_ip": "192.168.1.8", "rank_id": "0"}]}]}

What it has no place for, a group list's instance and group names, is kept in keys of the
devices that HCCL does not read.
"""

from __future__ import annotations

from typing import Any

from trainferry.launch.ranktable.fields import Fields, Notes
from trainferry.launch.ranktable.table import (
    DEFAULT_GROUP,
    SERVER_LIST_VERSION,
    Count,
    Device,
    RankTable,
    Server,
)

_TABLE_KEYS = ("status", "version", "server_count", "server_list")
_SERVER_KEYS = ("server_id", "device")
_DEVICE_KEYS = ("device_id", "device_ip", "rank_id", "pod_name", "group_name")


def parse_server_list(document: dict[str, Any], notes: Notes) -> RankTable | None:
    """The table, or None where something that it needs cannot be read."""
    fields = Fields(document, "the table", notes)
    status = fields.text("status")
    stated = fields.optional_number("server_count")
    servers = tuple(
        _parse_server(Fields(values, f"server_list[{place}]", notes))
        for place, values in fields.objects("server_list")
    )
    if notes.is_unreadable:
        return None
    count = Count("the table", "server_count", stated, len(servers), is_required=False)
    return RankTable(
        template="server-list",
        servers=servers,
        status=status,
        version=fields.optional_text("version"),
        counts=(count,),
        extra=fields.extra(_TABLE_KEYS),
    )


def write_server_list(table: RankTable) -> dict[str, Any]:
    """The table as a JSON document."""
    return {
        "status": table.status,
        "version": table.version or SERVER_LIST_VERSION,
        "server_count": str(len(table.servers)),
        "server_list": [
            {
                "server_id": server.id,
                "device": [_write_device(server, device) for device in server.devices],
                **server.extra,
            }
            for server in table.servers
        ],
        **table.extra,
    }


def _parse_server(fields: Fields) -> Server:
    id = fields.text("server_id")
    fields = fields.called(f"server `{id}`") if id else fields
    devices = tuple(
        _parse_device(Fields(values, f"{fields.where}, device[{place}]", fields.notes), id)
        for place, values in fields.objects("device")
    )
    return Server(id, devices, fields.extra(_SERVER_KEYS))


def _parse_device(fields: Fields, server: str) -> Device:
    return Device(
        id=fields.number("device_id"),
        rank=fields.number("rank_id"),
        address=fields.optional_text("device_ip"),
        pod=fields.optional_text("pod_name", server),
        group=fields.optional_text("group_name", DEFAULT_GROUP),
        extra=fields.extra(_DEVICE_KEYS),
    )


def _write_device(server: Server, device: Device) -> dict[str, Any]:
    written = {"device_id": str(device.id)}
    if device.address:
        written["device_ip"] = device.address
    written["rank_id"] = str(device.rank)
    if device.pod not in ("", server.id):
        written["pod_name"] = device.pod
    if device.group != DEFAULT_GROUP:
        written["group_name"] = device.group
    return {**written, **device.extra}
