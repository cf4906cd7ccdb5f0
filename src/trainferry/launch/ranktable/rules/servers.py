"""Rules about servers, and about which and how many of their devices may work together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from trainferry.launch.ranktable.chips import Chip
from trainferry.launch.ranktable.finding import Finding
from trainferry.launch.ranktable.table import (
    RankTable,
    Server,
    count_of,
    name_entry,
    shorten_numbers,
)

_LONGEST_ID = 64


def check_server_ids(table: RankTable, _: Chip) -> Iterator[Finding]:
    for id, times in Counter(server.id for server in table.servers).items():
        where = f"server `{id}`"
        if times > 1:
            problem = f"is there {times} times"
            fix = "give each server its own `server_id`, or put its devices into one entry"
            yield Finding("server ids", "error", where, problem, fix)
        if not id.strip() or "FILL" in id:
            problem = "is still to be named" if id.strip() else "has an empty `server_id`"
            yield Finding("server ids", "error", where, problem, "write its address or name")
        if len(id) > _LONGEST_ID:
            problem = f"has an id of {len(id)} characters; HCCL takes {_LONGEST_ID}"
            yield Finding("server ids", "error", where, problem, "write a shorter `server_id`")


def check_device_ids(table: RankTable, chip: Chip) -> Iterator[Finding]:
    for server in table.servers:
        times = Counter(device.id for device in server.devices)
        for device in server.devices:
            where = name_entry(server, device)
            if device.id >= chip.device_ids:
                problem = f"`device_id` is {device.id}; the {chip.name} has 0-{chip.device_ids - 1}"
                fix = "`ls /dev/davinci*` on the server shows the ids"
                yield Finding("device ids", "error", where, problem, fix)
            if times[device.id] > 1:
                problem = f"device {device.id} is there {times[device.id]} times on this server"
                free = shorten_numbers(set(range(chip.device_ids)) - set(times))
                fix = f"each device once; not used here: {free}" if free else "delete one of them"
                yield Finding("device ids", "error", where, problem, fix)


def check_devices_of_server(table: RankTable, chip: Chip) -> Iterator[Finding]:
    is_cluster = len(table.servers) > 1
    allowed = chip.devices_in_cluster if is_cluster else chip.devices_alone
    for server in table.servers:
        number = len(server.devices)
        if number not in allowed:
            problem = f"takes part with {count_of(number, 'device')}"
            if is_cluster:
                problem += ", in a cluster"
            fewer = max((count for count in allowed if count < number), default=min(allowed))
            fix = f"use {_choices(allowed)} of them on the {chip.name}, {fewer} for example"
            yield Finding("devices", "error", name_entry(server), problem, fix)


def check_rings(table: RankTable, chip: Chip) -> Iterator[Finding]:
    for server in table.servers:
        ids = sorted({device.id for device in server.devices})
        if 1 < len(ids) <= chip.ring and len({id // chip.ring for id in ids}) > 1:
            problem = f"its devices {shorten_numbers(ids)} lie in two networks, 0-3 and 4-7"
            first = min(ids) // chip.ring * chip.ring
            fix = f"take {len(ids)} of {first}-{first + chip.ring - 1}, or all eight"
            yield Finding("rings", "error", name_entry(server), problem, fix)


def check_equal_servers(table: RankTable, chip: Chip) -> Iterator[Finding]:
    usual = _usual(table)
    for server in table.servers:
        if len(server.devices) != usual:
            problem = f"has {count_of(len(server.devices), 'device')}, where most have {usual}"
            if chip.unequal_servers == "warning":
                problem += "; it runs, and slower"
            fix = f"use {usual} on every server"
            yield Finding("equal servers", chip.unequal_servers, name_entry(server), problem, fix)


def check_whole_servers(table: RankTable, chip: Chip) -> Iterator[Finding]:
    """Early guides for the 910 ask for whole servers in a cluster, later ones no more."""
    if _usual(table) in chip.devices_in_cluster - {8}:
        problem = f"a cluster with {_usual(table)} of the 8 devices of its servers"
        problem += "; early releases of CANN take whole servers alone, 8 devices of each"
        fix = "use all 8 devices of each server, or try this table on yours before a long run"
        yield Finding("whole servers", "warning", "the table", problem, fix)


def check_power_of_two(table: RankTable, _: Chip) -> Iterator[Finding]:
    number = len(table.servers)
    if number & (number - 1):
        lower = 1 << (number.bit_length() - 1)
        problem = f"has {number} servers; HCCL is fastest on a power of two"
        fix = f"use {lower} or {lower * 2} servers if you can choose"
        yield Finding("power of two", "warning", "the table", problem, fix)


def check_size(table: RankTable, chip: Chip) -> Iterator[Finding]:
    if chip.most_servers is None:
        return
    most_devices = chip.most_servers * chip.device_ids
    for number, most, thing in (
        (len(table.servers), chip.most_servers, "server"),
        (table.size, most_devices, "device"),
    ):
        if number > most:
            problem = f"has {count_of(number, thing)}; the largest cluster of the {chip.name}"
            problem += f" has {most:,}"
            fix = f"use at most {count_of(most, thing)}"
            yield Finding("size", "error", "the table", problem, fix)


def _usual(table: RankTable) -> int:
    def devices(server: Server) -> int:
        return len(server.devices)

    return Counter(map(devices, table.servers)).most_common(1)[0][0]


def _choices(allowed: frozenset[int]) -> str:
    numbers = sorted(allowed)
    if len(numbers) > 4:
        return f"{numbers[0]} to {numbers[-1]}"
    return ", ".join(map(str, numbers[:-1])) + f" or {numbers[-1]}"
