"""Whether a machine's own name leads to an address that the others can reach.

Gloo listens at the address of the machine's name. Where `/etc/hosts` gives the name to the
machine itself (127.0.1.1, as some installers do), no other machine gets through.
"""

from __future__ import annotations

import fcntl
import ipaddress
import os
import socket
import struct
from collections.abc import Mapping
from typing import Any, TypeAlias

from trainferry.launch.preflight.crew import Crew
from trainferry.launch.preflight.report import Check, Problem

INTERFACE_VARIABLE = "GLOO_SOCKET_IFNAME"
_SIOCGIFADDR = 0x8915  # Linux: ask an interface for its address

NameFacts: TypeAlias = dict[str, Any]


def look_at_name(host: str, address: str) -> NameFacts:
    """Where the name leads, and the interface that has `address`."""
    interface = os.environ.get(INTERFACE_VARIABLE, "")
    leads_to = [] if interface else _look_up(host)
    return {"leads_to": leads_to, "interface": interface, "wanted": _interface_of(address)}


def judge_names(crew: Crew, facts: Mapping[int, NameFacts]) -> Check:
    if len(crew.machines) < 2:
        return Check("names", "one machine: nobody asks for its name")
    problems = []
    for machine in crew.machines:
        found = facts.get(machine.speaker)
        if found is None or found["interface"] or not all(map(_is_local, found["leads_to"])):
            continue
        to = f"leads to {' and '.join(found['leads_to'])}" if found["leads_to"] else "is unknown"
        wanted = found["wanted"] or "the interface that all machines share"
        problems.append(
            Problem(
                "warning",
                f"the name {machine.host} {to} on {machine.name}; gloo would listen where no "
                "other machine gets through",
                f"set {INTERFACE_VARIABLE}={wanted} there, or give the name its real address in "
                "/etc/hosts",
            )
        )
    sentence = "each machine's name, or its interface, leads to it"
    return Check("names", sentence if not problems else "some lead nowhere", tuple(problems))


def _look_up(host: str) -> list[str]:
    try:
        return sorted({str(one[4][0]) for one in socket.getaddrinfo(host, None)})
    except socket.gaierror:
        return []


def _is_local(address: str) -> bool:
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def _interface_of(address: str) -> str:
    """The name of the interface with this IPv4 address; empty where it is not found."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for _, name in socket.if_nameindex():
            asked = struct.pack("256s", name.encode()[:15])
            try:
                answer = fcntl.ioctl(asking.fileno(), _SIOCGIFADDR, asked)
            except OSError:
                continue  # an interface without an IPv4 address
            if socket.inet_ntoa(answer[20:24]) == address:
                return name
    return ""
