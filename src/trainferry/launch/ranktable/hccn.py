"""Addresses of devices, from what servers print about them; nothing is run here.

    /etc/hccn.conf                                        address_0=192.168.100.101
    for i in 0 1 2 3 4 5 6 7; do hccn_tool -i $i -ip -g; done    ipaddr:192.168.100.101

The second prints no device numbers, so its addresses are taken in order from device 0, and a
line that is neither an address nor a netmask is refused: one device without an answer would
shift all after it. Both may come from many servers in one file, each line with the server's
name in front, as `pdsh` and `clush` write it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from trainferry.errors import DataError, UsageError
from trainferry.launch.ranktable.document import read_bytes
from trainferry.launch.ranktable.table import listed

_COMMAND = re.compile(r"hccn_tool\s+(?:.*\s)?-i\s+(\d+)\s.*-ip\b")
_ANSWER = re.compile(r"(?:\[?(?:device|dev_id:)\s*(\d+)\]?[,:]?\s*)?ipaddr\s*:\s*(\S+)")
_NETMASK = re.compile(r"(?:\[?(?:device|dev_id:)\s*\d+\]?[,:]?\s*)?netmask\s*:.*")
_CONFIGURED = re.compile(r"(?P<family>IPv6)?address_(?P<id>\d+)\s*=\s*(?P<address>\S+)")
_SETTING = re.compile(r"\w+\s*=.*|#.*")


def read_addresses(sources: Sequence[str], hosts: Sequence[str]) -> dict[str, dict[int, str]]:
    """The address of each device of each host.

    A source is `HOST=FILE`, a file called after its host (`node-1.conf`), a folder of such
    files, or a file whose lines start with the host's name; with one host, any file.
    """
    found: dict[str, dict[int, str]] = {}
    for source in sources:
        host, path = _split(source, hosts)
        for file in sorted(path.iterdir()) if path.is_dir() and host is None else [path]:
            for name, lines in _lines_of_hosts(file, host, hosts).items():
                if name in found:
                    raise DataError(
                        f"`{file}` and a file before it both have addresses of `{name}`",
                        hint="give one source for each host",
                    )
                found[name] = parse_addresses(lines, str(file))
    return found


def parse_addresses(lines: Iterable[tuple[int, str]], name: str) -> dict[int, str]:
    """Addresses by device id, from the numbered lines of one server's file."""
    kept = [(number, line.strip()) for number, line in lines if line.strip()]
    if any(_CONFIGURED.match(line) for _, line in kept):
        return _parse_configuration(kept, name)
    return _parse_answers(kept, name)


def _parse_configuration(lines: list[tuple[int, str]], name: str) -> dict[int, str]:
    addresses: dict[int, str] = {}
    fallback: dict[int, str] = {}
    for number, line in lines:
        match = _CONFIGURED.match(line)
        if match:
            # HCCL too takes the IPv6 address only where there is no other.
            kept = fallback if match["family"] else addresses
            _add(kept, int(match["id"]), match["address"], f"{name}, line {number}")
        elif not _SETTING.match(line):
            raise _not_understood(name, number, line)
    return {**fallback, **addresses}


def _parse_answers(lines: list[tuple[int, str]], name: str) -> dict[int, str]:
    addresses: dict[int, str] = {}
    asked: int | None = None
    for number, line in lines:
        if command := _COMMAND.search(line):
            asked = int(command[1])
        elif answer := _ANSWER.fullmatch(line):
            id = int(answer[1]) if answer[1] else len(addresses) if asked is None else asked
            _add(addresses, id, answer[2], f"{name}, line {number}")
        elif not _NETMASK.fullmatch(line):
            raise _not_understood(name, number, line)
    if not addresses:
        raise DataError(
            f"`{name}` has no address of a device",
            hint="give /etc/hccn.conf, or what `hccn_tool -i N -ip -g` prints for each device",
        )
    return addresses


def _add(addresses: dict[int, str], id: int, address: str, where: str) -> None:
    if addresses.setdefault(id, address) != address:
        raise DataError(
            f"{where}: device {id} has `{address}` here and `{addresses[id]}` before",
            hint=f"keep the one that `hccn_tool -i {id} -ip -g` prints",
        )


def _not_understood(name: str, number: int, line: str) -> DataError:
    return DataError(
        f"{name}, line {number}: `{line[:60]}` is neither an address nor a netmask",
        hint="ask that device again, or delete the line if it belongs to no device: a device "
        "without an answer would shift the addresses of all after it",
    )


def _split(source: str, hosts: Sequence[str]) -> tuple[str | None, Path]:
    host, equals, path = source.partition("=")
    if equals and not Path(source).exists():
        if host not in hosts:
            raise UsageError(
                f"`{source}` is for the host `{host}`, which is not one of the job",
                hint=f"the hosts are {listed(hosts)}",
            )
        return host, Path(path)
    return None, Path(source)


def _lines_of_hosts(
    file: Path, host: str | None, hosts: Sequence[str]
) -> dict[str, list[tuple[int, str]]]:
    text = read_bytes(file).decode("utf-8-sig", errors="replace")
    lines = list(enumerate(text.splitlines(), 1))
    if host is not None:
        return {host: lines}
    by_host: dict[str, list[tuple[int, str]]] = {}
    known = set(hosts)
    for number, line in lines:
        name, colon, rest = line.partition(": ")
        if colon and name in known:
            by_host.setdefault(name, []).append((number, rest))
        elif line.strip() and by_host:
            raise DataError(
                f"{file}, line {number}: `{line[:60]}` has no host in front, as other lines have",
                hint="write all lines as `HOST: line`, as `pdsh` does",
            )
    if by_host:
        return by_host
    for name in (file.name, file.stem):
        if name in known:
            return {name: lines}
    if len(hosts) == 1:
        return {hosts[0]: lines}
    raise UsageError(
        f"whose addresses are in `{file}`?",
        hint=f"write `--hccn {hosts[0]}={file}`, or call the file after its host",
    )
