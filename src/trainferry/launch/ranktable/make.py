"""A new rank table from hosts, devices and addresses; what is not known is asked for."""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Mapping, Sequence

from trainferry.errors import DataError, UsageError
from trainferry.launch.ranktable.chips import Chip
from trainferry.launch.ranktable.hosts import Host
from trainferry.launch.ranktable.table import (
    SERVER_LIST_VERSION,
    Device,
    RankTable,
    Server,
    Template,
    count_of,
    listed,
    number_as_hccl,
    shorten_numbers,
)

Addresses = Mapping[str, Mapping[int, str]]


def make_table(
    hosts: Sequence[Host],
    devices: Sequence[int],
    addresses: Addresses | None,
    template: Template,
) -> RankTable:
    """Ranks follow hosts and devices; in a group list they are those that HCCL gives.

    `addresses` is None for a table without, which one server alone may have.
    """
    _check_hosts(hosts)
    if addresses is not None:
        _check_addresses(hosts, devices, addresses)
    servers = []
    rank = 0
    for host in hosts:
        ids = _ids(host, devices)
        known = addresses[host.name] if addresses is not None else {}
        made = tuple(
            Device(id, rank + place, known.get(id, ""), pod=host.name)
            for place, id in enumerate(ids)
        )
        servers.append(Server(host.name, made))
        rank += len(ids)
    if template == "server-list":
        return RankTable(template, tuple(servers), version=SERVER_LIST_VERSION)
    ordered = sorted(servers, key=lambda server: server.id)
    return RankTable(template, number_as_hccl(ordered))


def count_addresses(hosts: Sequence[Host], base: str, chip: Chip) -> Addresses:
    """Addresses by counting: device D of server S, both from 0, has base + S * ids + D."""
    try:
        first = ipaddress.ip_address(base)
    except ValueError as error:
        raise UsageError(
            f"`{base}` is no IP address", hint="the address of device 0 of the first host"
        ) from error
    step = chip.device_ids
    try:
        return {
            host.name: {id: str(first + place * step + id) for id in range(step)}
            for place, host in enumerate(hosts)
        }
    except ipaddress.AddressValueError as error:
        raise UsageError(
            f"{count_of(len(hosts), 'server')} from `{base}` on leave the addresses there are",
            hint="start lower",
        ) from error


def _ids(host: Host, devices: Sequence[int]) -> Sequence[int]:
    return devices if host.devices is None else tuple(range(host.devices))


def _check_hosts(hosts: Sequence[Host]) -> None:
    if not hosts:
        raise UsageError(
            "no host is named", hint="--host NAME for each, --host 'node[01-16]', or --hosts FILE"
        )
    if again := [name for name, times in Counter(one.name for one in hosts).items() if times > 1]:
        raise DataError(
            f"{listed(again)} {'is' if len(again) == 1 else 'are'} named more than once",
            hint="name each host once; its number of devices is `--devices`, or `slots=` in a file",
        )


def _check_addresses(hosts: Sequence[Host], devices: Sequence[int], known: Addresses) -> None:
    if strangers := [host.name for host in hosts if host.name not in known]:
        raise DataError(
            f"no addresses are known for {listed(strangers)}",
            hint="save /etc/hccn.conf of each host and give `--hccn HOST=FILE`; addresses are "
            "never guessed",
        )
    for host in hosts:
        missing = set(_ids(host, devices)) - set(known[host.name])
        if missing:
            have = shorten_numbers(known[host.name])
            raise DataError(
                f"host `{host.name}`: no address of device {shorten_numbers(missing)}; "
                f"there are those of {have}",
                hint=f"`hccn_tool -i {min(missing)} -ip -g` on `{host.name}` prints it, or take "
                "other `--devices`",
            )
