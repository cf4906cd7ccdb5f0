"""Whether machines can open connections to each other.

Each machine connects to the next, in a ring, and to the machine of rank 0. That is at most two
connections a machine and not one to every other: 254 for 128 machines, where all pairs are
8,128. What keeps machines apart (a firewall, a wrong interface, no route) sits at a machine or
its switch, so a neighbour sees it too; the all-reduce then opens what a training opens.
"""

from __future__ import annotations

import secrets
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from trainferry.launch.preflight.crew import Crew, Machine
from trainferry.launch.preflight.report import Check, Problem

CONNECT_SECONDS = 5.0
_WORD_BYTES = 16

Listen: TypeAlias = Callable[[str], socket.socket]


def listen(address: str) -> socket.socket:
    """A free port, as the libraries of a training take them."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.create_server(("", 0), family=family)


class Door:
    """An open port that answers with a word only this machine knows, until it is closed."""

    def __init__(self, address: str, listening: socket.socket) -> None:
        self._socket = listening
        self._word = secrets.token_bytes(_WORD_BYTES)
        self.address = address
        threading.Thread(target=self._answer, daemon=True).start()

    def notice(self) -> dict[str, Any]:
        port = self._socket.getsockname()[1]
        return {"address": self.address, "port": port, "word": self._word.hex()}

    def close(self) -> None:
        with suppress(OSError):  # nobody may be connected; waking the thread is all it is for
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _answer(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return  # closed
            with connection, suppress(OSError):  # who connects and leaves is told so over there
                connection.settimeout(CONNECT_SECONDS)
                connection.sendall(self._word)


def goals_of(machine: Machine, machines: Sequence[Machine]) -> list[Machine]:
    """The machines that `machine` tries: the next one, and that of rank 0."""
    following = machines[(machine.number + 1) % len(machines)]
    goals = {one.number: one for one in (following, machines[0]) if one.number != machine.number}
    return list(goals.values())


def knock(door: Mapping[str, Any], seconds: float = CONNECT_SECONDS) -> str:
    """Why the door cannot be reached; empty if it can."""
    try:
        with socket.create_connection((door["address"], door["port"]), seconds) as connection:
            connection.settimeout(seconds)
            heard = connection.recv(_WORD_BYTES, socket.MSG_WAITALL)
    except TimeoutError:
        return f"no answer within {seconds:.0f} s"
    except OSError as error:
        return (error.strerror or str(error)).lower()
    return "" if heard.hex() == door["word"] else "something else answers there"


def judge_ports(crew: Crew, tried: Mapping[int, Sequence[Mapping[str, Any]]]) -> Check:
    """`tried` holds, by number of machine, each try as `to`, `address`, `port` and `why`."""
    machines = crew.machines
    if len(machines) < 2:
        return Check("ports", "one machine: none to reach")
    problems = []
    for number, tries in tried.items():
        for one in tries:
            if not one["why"]:
                continue
            place = f"{one['address']} port {one['port']}" if one["port"] else one["address"]
            problems.append(
                Problem(
                    "wrong",
                    f"{machines[number].name} cannot connect to {machines[one['to']].name} "
                    f"({place}): {one['why']}",
                    "open all ports between the machines of the run; with several networks, name "
                    "the one they share in GLOO_SOCKET_IFNAME and that of the device's library",
                )
            )
    silent = [machine.speaker for machine in machines if machine.number not in tried]
    if silent:
        who = crew.name_all(silent)
        problems.append(Problem("wrong", f"{who} did not tell whom it reaches", "read its output"))
    count = sum(not one["why"] for tries in tried.values() for one in tries)
    asked = sum(len(goals_of(machine, machines)) for machine in machines)
    sentence = f"{count} of {asked} connections between {len(machines)} machines open"
    return Check("ports", sentence, tuple(problems), measured={"tries": _flat(tried)})


def _flat(tried: Mapping[int, Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    return [{"from": number, **one} for number, tries in tried.items() for one in tries]
