"""The group list, in its documented form (read and written) and that of early releases (read).

    {"status": "completed", "group_count": "1", "group_list": [
      {"group_name": "hccl_world_group", "instance_count": "1", "device_count": "1",
       "instance_list": [
         {"pod_name": "node_0", "server_id": "node_0", "devices": [
           {"device_id": "0", "device_ip": "192.168.1.8"}]}]}]}

Early releases wrote `deploy_mode`, one device to an instance and its `rank_id`, and counted in
`device_num` and `server_num`; HCCL still reads them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from trainferry.launch.ranktable.fields import Fields, Notes
from trainferry.launch.ranktable.finding import Finding
from trainferry.launch.ranktable.table import (
    DEFAULT_GROUP,
    Count,
    Device,
    RankTable,
    Server,
    Template,
    number_as_hccl,
)

_TABLE_KEYS = ("status", "version", "group_count", "group_list", "deploy_mode")
_DEVICE_KEYS = ("device_id", "device_ip")


@dataclass(frozen=True)
class _Form:
    template: Template
    device_count: str
    group_keys: tuple[str, ...]
    instance_keys: tuple[str, ...]


_DOCUMENTED = _Form(
    "group-list",
    "device_count",
    ("group_name", "instance_count", "device_count", "instance_list"),
    ("pod_name", "server_id", "devices"),
)
_LAB = _Form(
    "group-list-lab",
    "device_num",
    ("group_name", "instance_count", "device_num", "server_num", "instance_list"),
    ("pod_name", "server_id", "devices", "rank_id"),
)


@dataclass(frozen=True)
class _Instance:
    server: str
    devices: tuple[Device, ...]
    extra: dict[str, Any]


def parse_group_list(document: dict[str, Any], notes: Notes) -> RankTable | None:
    """The table, or None where something that it needs cannot be read."""
    form = _LAB if "deploy_mode" in document else _DOCUMENTED
    fields = Fields(document, "the table", notes)
    status = fields.text("status")
    groups = [
        Fields(values, f"group_list[{place}]", notes)
        for place, values in fields.objects("group_list")
    ]
    counts = [Count("the table", "group_count", fields.optional_number("group_count"), len(groups))]
    instances: list[_Instance] = []
    homeless: list[str] = []
    for group in groups:
        inside = [_parse_instance(one, form) for one in _named_instances(group)]
        instances += inside
        counts += _counts(group, inside, form)
        homeless += [f"`{key}` of {group.where}" for key in group.extra(form.group_keys)]
    if notes.is_unreadable:
        return None
    servers, left = _gather(instances)
    return RankTable(
        template=form.template,
        servers=number_as_hccl(servers) if form is _DOCUMENTED else servers,
        status=status,
        version=fields.optional_text("version"),
        counts=tuple(counts),
        extra=fields.extra(_TABLE_KEYS),
        homeless=tuple(homeless + left),
    )


def write_group_list(table: RankTable) -> dict[str, Any]:
    """The table as a JSON document; the ranks are those that `number_as_hccl` gives."""
    names = list(dict.fromkeys(device.group for _, device in table.entries))
    return {
        "status": table.status,
        "group_count": str(len(names)),
        "group_list": [_write_group(table, name) for name in names],
        **table.extra,
    }


def _named_instances(group: Fields) -> Iterator[tuple[Fields, str]]:
    name = group.optional_text("group_name", DEFAULT_GROUP)
    for place, values in group.objects("instance_list"):
        pod = values.get("pod_name")
        known = isinstance(pod, str)
        where = f"instance `{pod}`" if known else f"{group.where}, instance_list[{place}]"
        yield Fields(values, where, group.notes), name


def _parse_instance(named: tuple[Fields, str], form: _Form) -> _Instance:
    fields, group = named
    server = fields.text("server_id")
    is_lab = form is _LAB
    rank = fields.number("rank_id") if is_lab else 0
    pod = fields.optional_text("pod_name", server) if is_lab else fields.text("pod_name")
    devices = tuple(
        _parse_device(Fields(values, f"{fields.where}, devices[{place}]", fields.notes))
        for place, values in fields.objects("devices")
    )
    if is_lab and len(devices) > 1:
        problem = f"has {len(devices)} devices and one `rank_id`"
        fix = "give each device an instance of its own, with its `rank_id`"
        fields.notes.lack(Finding("values", "error", fields.where, problem, fix))
    placed = tuple(replace(device, rank=rank, pod=pod, group=group) for device in devices)
    return _Instance(server, placed, fields.extra(form.instance_keys))


def _parse_device(fields: Fields) -> Device:
    return Device(
        id=fields.number("device_id"),
        rank=0,
        address=fields.optional_text("device_ip"),
        extra=fields.extra(_DEVICE_KEYS),
    )


def _counts(group: Fields, inside: list[_Instance], form: _Form) -> list[Count]:
    devices = sum(len(instance.devices) for instance in inside)
    found = {"instance_count": len(inside), form.device_count: devices}
    if form is _LAB:
        found["server_num"] = len({instance.server for instance in inside})
    return [
        Count(group.where, key, group.optional_number(key), number) for key, number in found.items()
    ]


def _gather(instances: list[_Instance]) -> tuple[tuple[Server, ...], list[str]]:
    """Servers from instances, and the keys of instances that a server cannot hold."""
    servers = []
    homeless: list[str] = []
    for id in dict.fromkeys(instance.server for instance in instances):
        here = [instance for instance in instances if instance.server == id]
        devices = tuple(device for instance in here for device in instance.devices)
        extra = here[0].extra if len(here) == 1 else {}
        if len(here) > 1:
            homeless += [f"`{key}` of an instance of `{id}`" for one in here for key in one.extra]
        servers.append(Server(id, devices, extra))
    return tuple(servers), homeless


def _write_group(table: RankTable, name: str) -> dict[str, Any]:
    instances = [
        instance for server in table.servers for instance in _write_instances(server, name)
    ]
    devices = sum(len(instance["devices"]) for instance in instances)
    return {
        "group_name": name,
        "instance_count": str(len(instances)),
        "device_count": str(devices),
        "instance_list": instances,
    }


def _write_instances(server: Server, group: str) -> Iterator[dict[str, Any]]:
    inside = [device for device in server.devices if device.group == group]
    by_pod = sorted(inside, key=lambda device: device.pod)
    pods = {pod: list(devices) for pod, devices in groupby(by_pod, key=lambda one: one.pod)}
    for pod in dict.fromkeys(device.pod for device in inside):
        yield {
            "pod_name": pod or server.id,
            "server_id": server.id,
            "devices": [_write_device(device) for device in pods[pod]],
            **server.extra,
        }


def _write_device(device: Device) -> dict[str, Any]:
    written = {"device_id": str(device.id)}
    if device.address:
        written["device_ip"] = device.address
    return {**written, **device.extra}
