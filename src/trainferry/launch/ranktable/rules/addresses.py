"""Rules about the addresses of devices, over which servers talk to each other."""

from __future__ import annotations

import ipaddress
from collections import defaultdict
from collections.abc import Iterator

from trainferry.launch.ranktable.chips import Chip
from trainferry.launch.ranktable.finding import Finding, Severity
from trainferry.launch.ranktable.table import (
    SUPER_POD_VERSION,
    Device,
    RankTable,
    Server,
    name_entry,
)

PORTS = ("device_port", "backup_device_port", "host_port")


def check_addresses_there(table: RankTable, chip: Chip) -> Iterator[Finding]:
    is_alone = len(table.servers) == 1 or _is_one_super_pod(table)
    if is_alone and not chip.is_first_generation:
        return
    severity: Severity = "warning" if is_alone else "error"
    why = "servers talk over it"
    if is_alone:
        why = "the documentation asks for it, though HCCL runs one server without"
    for server, device in table.entries:
        if not device.address:
            problem = f"has no `device_ip`; {why}"
            where = name_entry(server, device)
            yield Finding("addresses", severity, where, problem, _ask(server, device))


def check_addresses_valid(table: RankTable, _: Chip) -> Iterator[Finding]:
    for server, device in table.entries:
        for address in device.addresses:
            if problem := _fault_of(address):
                where = name_entry(server, device)
                fix = _ask(server, device)
                yield Finding("valid addresses", "error", where, problem, fix)


def check_addresses_once(table: RankTable, _: Chip) -> Iterator[Finding]:
    first: dict[str, tuple[Server, Device]] = {}
    for server, device in table.entries:
        for address in device.addresses:
            parsed = _parse(address)
            if parsed is None:
                continue
            owner = first.setdefault(str(parsed), (server, device))
            if owner[1] is not device:
                problem = f"`{address}` is also the address of {name_entry(*owner)}"
                where = name_entry(server, device)
                yield Finding("own addresses", "error", where, problem, _ask(server, device))


def check_one_family(table: RankTable, _: Chip) -> Iterator[Finding]:
    families: dict[int, list[tuple[Server, Device]]] = defaultdict(list)
    for server, device in table.entries:
        for address in device.addresses:
            if parsed := _parse(address):
                families[parsed.version].append((server, device))
    if len(families) > 1:
        fewer, more = sorted(families.items(), key=lambda item: len(item[1]))
        for server, device in fewer[1]:
            problem = f"has an IPv{fewer[0]} address, where the others have IPv{more[0]}"
            inet = " -inet6" if more[0] == 6 else ""
            fix = f"`hccn_tool -i {device.id} -ip{inet} -g` on `{server.id}` prints the other"
            yield Finding("one family", "error", name_entry(server, device), problem, fix)


def check_ports(table: RankTable, _: Chip) -> Iterator[Finding]:
    for server, device in table.entries:
        for key in PORTS:
            if key not in device.extra:
                continue
            value = device.extra[key]
            is_number = isinstance(value, str) and value.isascii() and value.isdecimal()
            where = name_entry(server, device)
            if not is_number or not 1 <= int(value) <= 65535:
                problem, fix = f"`{key}` is {value!r}", 'write a port as text: "1024" to "65535"'
                yield Finding("ports", "error", where, problem, fix)
            elif int(value) < 1024:
                problem = f"`{key}` is {value}; ports below 1024 belong to the system"
                yield Finding("ports", "warning", where, problem, "take one of 1024 to 65535")


def _is_one_super_pod(table: RankTable) -> bool:
    pods = table.extra.get("super_pod_list")
    return table.version == SUPER_POD_VERSION and isinstance(pods, list) and len(pods) == 1


def _fault_of(address: str) -> str | None:
    if "FILL" in address or set(address) <= set("x.X"):
        return f"`{address}` is still to be filled in"
    parsed = _parse(address)
    if parsed is None:
        if address.strip() != address:
            return f"`{address}` has blanks around it"
        return f"`{address}` is no IP address"
    if parsed.is_loopback or parsed.is_unspecified or parsed.is_multicast:
        return f"`{address}` is no address of a device"
    return None


def _parse(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(address)
    except ValueError:
        return None


def _ask(server: Server, device: Device) -> str:
    return f"`hccn_tool -i {device.id} -ip -g` on `{server.id}` prints its address"
