"""Small rank tables for tests, as JSON documents that a test may spoil."""

from __future__ import annotations

import json
from typing import Any

from trainferry.launch.ranktable.check import Check, State, check_reading
from trainferry.launch.ranktable.chips import ChipName
from trainferry.launch.ranktable.finding import Finding
from trainferry.launch.ranktable.reading import parse_table
from trainferry.launch.ranktable.table import RankTable

Document = dict[str, Any]


def server_list(*devices: list[int] | int) -> Document:
    """A server for each argument, which is its device ids, or how many from 0."""
    servers = []
    rank = 0
    for place, given in enumerate(devices):
        ids = list(range(given)) if isinstance(given, int) else given
        entries = []
        for id in ids:
            address = f"192.168.{place}.{id + 1}"
            entries.append({"device_id": str(id), "device_ip": address, "rank_id": str(rank)})
            rank += 1
        servers.append({"server_id": f"node-{place:03}", "device": entries})
    return {
        "status": "completed",
        "version": "1.0",
        "server_count": str(len(servers)),
        "server_list": servers,
    }


def group_list(*devices: int) -> Document:
    """The same as a group list, with an instance to each server."""
    instances = [
        {
            "pod_name": f"pod-{place}",
            "server_id": f"node-{place:03}",
            "devices": [
                {"device_id": str(id), "device_ip": f"192.168.{place}.{id + 1}"}
                for id in range(number)
            ],
        }
        for place, number in enumerate(devices)
    ]
    group = {
        "group_name": "hccl_world_group",
        "instance_count": str(len(instances)),
        "device_count": str(sum(devices)),
        "instance_list": instances,
    }
    return {"status": "completed", "group_count": "1", "group_list": [group]}


def lab_list(number: int) -> Document:
    """A group list of early releases: one server, an instance to each device."""
    instances = [
        {
            "devices": [{"device_id": str(id), "device_ip": f"192.168.0.{id + 1}"}],
            "rank_id": str(id),
            "server_id": "10.0.0.1",
        }
        for id in range(number)
    ]
    group = {
        "device_num": str(number),
        "server_num": "1",
        "group_name": "",
        "instance_count": str(number),
        "instance_list": instances,
    }
    return {
        "board_id": "0x0020",
        "chip_info": "910",
        "deploy_mode": "lab",
        "group_count": "1",
        "group_list": [group],
        "para_plane_nic_location": "device",
        "status": "completed",
    }


def check(document: Document, chip: ChipName | None = None) -> Check:
    return check_reading(parse_table(json.dumps(document).encode()), chip)


def table_of(document: Document) -> RankTable:
    table = parse_table(json.dumps(document).encode()).table
    assert table is not None
    return table


def state_of(rule: str, checked: Check) -> State | None:
    """The state of a rule, None where it does not apply."""
    return next((one.state for one in checked.verdicts if one.rule.name == rule), None)


def found(rule: str, checked: Check) -> list[Finding]:
    return [one for verdict in checked.verdicts for one in verdict.findings if one.rule == rule]


def other_problems(rule: str, checked: Check) -> set[str]:
    """Rules besides `rule` that found something."""
    return {one.rule.name for one in checked.verdicts if one.findings} - {rule}
