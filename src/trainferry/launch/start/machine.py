"""Who this machine is: the address that others reach it by, and which names are its own."""

from __future__ import annotations

import contextlib
import fcntl
import socket
import struct

_SIOCGIFADDR = 0x8915  # Linux: the address of an interface


def is_this_machine(name: str) -> bool:
    """Whether a host name or address is one of this machine's own."""
    if name == socket.gethostname():
        return True
    try:
        found = socket.getaddrinfo(name, 0, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return any(_can_listen(family, address) for family, _, _, _, address in found)


def own_address(host: str, port: int) -> str:
    """The address under which this machine talks to `host`; nothing is sent to find it out."""
    try:
        family, kind, _, _, there = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as probe:
            probe.connect(there)
            return str(probe.getsockname()[0])
    except OSError:
        return socket.gethostname()


def interface_of(address: str) -> str | None:
    """The name of the network interface with an IPv4 address; None where none has it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            with contextlib.suppress(OSError):  # an interface without an address of this kind
                asked = struct.pack("256s", name.encode()[:15])
                answer = fcntl.ioctl(probe.fileno(), _SIOCGIFADDR, asked)
                if socket.inet_ntoa(answer[20:24]) == address:
                    return name
    return None


def _can_listen(family: int, address: tuple[object, ...]) -> bool:
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.bind((str(address[0]), 0, *address[2:]))
    except OSError:
        return False
    return True
