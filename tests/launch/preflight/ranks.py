"""Ranks of a preflight as real processes on this machine, some of which see another one."""

from __future__ import annotations

import multiprocessing
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainferry.launch.preflight.__main__ import main
from trainferry.launch.preflight.place import Place
from trainferry.launch.preflight.report import Check, Report, read_report
from trainferry.launch.preflight.settings import Eyes

# Ranks are forked from a process that has torch already, which each would need seconds to import.
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["torch.distributed", "trainferry.launch.preflight.__main__"])
_LONGEST_SECONDS = 60


@dataclass(frozen=True)
class Host:
    """A machine that this one plays: its name and one of this machine's own addresses."""

    name: str
    own: str

    def host(self) -> str:
        return self.name

    def address(self, _: Place) -> str:
        return self.own


@dataclass(frozen=True)
class Ended:
    """How the ranks ended, and what they said."""

    codes: list[int]
    report: Report

    def check(self, name: str) -> Check:
        return next(check for check in self.report.checks if check.name == name)

    def sentences(self, name: str) -> str:
        return "\n".join(problem.sentence for problem in self.check(name).problems)


def eyes_on(machine: int, **other: Any) -> Eyes:
    """A rank's eyes on one of several machines that are all this one."""
    seen = Host(f"node-{machine}", f"127.0.0.{machine + 1}")
    return Eyes(**{"host": seen.host, "address": seen.address, "versions": some_versions, **other})


def some_versions() -> dict[str, str]:
    return {"python": "3.11.7", "torch": "2.13.0", "trainferry": "0.1.0"}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def environment(rank: int, ranks: int, local_ranks: int, port: int) -> dict[str, str]:
    return {
        "RANK": str(rank),
        "WORLD_SIZE": str(ranks),
        "LOCAL_RANK": str(rank % local_ranks),
        "LOCAL_WORLD_SIZE": str(local_ranks),
        "DEVICE_ID": str(rank % local_ranks),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "GLOO_SOCKET_IFNAME": "lo",
    }


@dataclass
class Cast:
    """Which ranks are started, and how; a test changes what it is about."""

    folder: Path
    ranks: int
    local_ranks: int
    seconds: float = 20.0
    absent: tuple[int, ...] = ()
    eyes: Mapping[int, Eyes] | None = None
    variables: Mapping[int, Mapping[str, str]] | None = None
    arguments: tuple[str, ...] = ()
    port: int = 0

    def play(self) -> Ended:
        """Start all ranks that are not absent, and wait for them."""
        port = self.port or free_port()
        started = []
        for rank in sorted(set(range(self.ranks)) - set(self.absent)):
            variables = environment(rank, self.ranks, self.local_ranks, port)
            variables |= (self.variables or {}).get(rank, {})
            seen = (self.eyes or {}).get(rank, eyes_on(rank // self.local_ranks))
            started.append(self.start(variables, seen))
        return self.end(started)

    def start(self, variables: Mapping[str, str], seen: Eyes) -> Any:
        words = ["--seconds", str(self.seconds), "--report", str(self.folder / "reports")]
        words += ["--trial-seconds", "30", *self.arguments]
        process = _CONTEXT.Process(target=_be_a_rank, args=(dict(variables), words, seen))
        process.start()
        return process

    def end(self, started: list[Any]) -> Ended:
        for process in started:
            process.join(_LONGEST_SECONDS)
            if process.is_alive():
                process.kill()
                process.join()
        return Ended(
            [process.exitcode for process in started], read_report(self.folder / "reports")
        )


def _be_a_rank(variables: dict[str, str], words: list[str], eyes: Eyes) -> None:
    for name in [name for name in os.environ if name.startswith(("TORCHELASTIC", "RANK_"))]:
        del os.environ[name]
    os.environ.update(variables)
    raise SystemExit(main(words, eyes))
