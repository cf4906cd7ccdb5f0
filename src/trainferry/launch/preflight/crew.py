"""The ranks that came, on which machines, and whether they are the ones that were planned."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from trainferry.launch.preflight.place import Place
from trainferry.launch.preflight.report import Check, Problem
from trainferry.launch.ranktable.table import count_of, shorten_numbers


@dataclass(frozen=True)
class Hello:
    """How a rank announces itself."""

    rank: int
    host: str
    address: str
    device: int
    local_ranks: int


@dataclass(frozen=True)
class Machine:
    """One host with those of its ranks that came; the lowest speaks for the machine."""

    number: int
    host: str
    address: str
    ranks: tuple[int, ...]
    name: str

    @property
    def speaker(self) -> int:
        return self.ranks[0]


@dataclass(frozen=True)
class Crew:
    """Who came. Every rank has the same picture of it, so that all agree who does what."""

    place: Place
    hellos: tuple[Hello, ...]
    twins: tuple[int, ...] = ()  # ranks that two processes claim to be
    seconds: float = 0.0  # how long rank 0 waited
    servers: Mapping[int, str] = field(default_factory=dict)  # what the rank table calls machines

    @property
    def missing(self) -> list[int]:
        return sorted(set(range(self.place.ranks)) - {hello.rank for hello in self.hellos})

    @cached_property
    def machines(self) -> tuple[Machine, ...]:
        # Containers may share a host's name, and hosts an address behind a gateway: both tell.
        groups: dict[tuple[str, str], list[int]] = defaultdict(list)
        for hello in sorted(self.hellos, key=lambda hello: hello.rank):
            groups[hello.host, hello.address].append(hello.rank)
        hosts = [host for host, _ in groups]
        return tuple(
            Machine(
                *(number, host, address, tuple(ranks)),
                name=host if hosts.count(host) == 1 else f"{host} {address}",
            )
            for number, ((host, address), ranks) in enumerate(groups.items())
        )

    @cached_property
    def machine_of(self) -> dict[int, Machine]:
        return {rank: machine for machine in self.machines for rank in machine.ranks}

    def name(self, rank: int) -> str:
        """`rank 3 (node-b)`, with what is known of the machine of a rank that did not come."""
        if rank in self.machine_of:
            return f"rank {rank} ({self.machine_of[rank].name})"
        return f"rank {rank} ({self.planned_name(rank)})"

    def name_all(self, ranks: Iterable[int]) -> str:
        """Ranks by machine: `ranks 4-7 (node-b), rank 9 (node-c)`."""
        groups: dict[str, list[int]] = defaultdict(list)
        for rank in sorted(ranks):
            known = self.machine_of.get(rank)
            groups[known.name if known else self.planned_name(rank)].append(rank)
        return ", ".join(
            f"rank{'s' if len(group) > 1 else ''} {shorten_numbers(group)} ({name})"
            for name, group in groups.items()
        )

    def planned_name(self, rank: int) -> str:
        """The machine of a rank that did not come: known if another rank of it did."""
        number = self.place.planned_machine(rank)
        first = number * self.place.local_ranks
        for mate in range(first, first + self.place.local_ranks):
            if mate in self.machine_of:
                return self.machine_of[mate].name
        server = f" ({self.servers[rank]} in the rank table)" if rank in self.servers else ""
        return f"machine {number} of 0-{self.place.machines - 1}{server}, from which none came"

    def to_json(self) -> dict[str, Any]:
        hellos = [vars(hello) for hello in self.hellos]
        return {"hellos": hellos, "twins": list(self.twins), "seconds": self.seconds}


def crew_from_json(place: Place, notice: dict[str, Any]) -> Crew:
    hellos = tuple(Hello(**hello) for hello in notice["hellos"])
    return Crew(place, hellos, tuple(notice["twins"]), notice["seconds"])


def judge_ranks(crew: Crew) -> Check:
    """Whether every rank came, and came once."""
    fix = "give each machine its own number, and end processes of an earlier run"
    problems = [
        Problem("wrong", f"two processes say that they are rank {rank}", fix) for rank in crew.twins
    ]
    if crew.missing:
        verb = "is" if len(crew.missing) == 1 else "are"
        sentence = f"{crew.name_all(crew.missing)} {verb} missing after {crew.seconds:.1f} s"
        rank_0 = f"{crew.place.address} port {crew.place.port}"
        fix = f"read the output there: not started, ended early, or cannot reach rank 0 at {rank_0}"
        problems.append(Problem("wrong", sentence, fix))
    came = crew.place.ranks - len(crew.missing)
    sentence = f"{came} of {count_of(crew.place.ranks, 'rank')} came within {crew.seconds:.1f} s"
    return Check("ranks", sentence, tuple(problems), measured={"missing": crew.missing})


def judge_machines(crew: Crew) -> Check:
    """Whether the machines are as many, and hold as many ranks, as planned."""
    machines = [
        {"host": one.host, "address": one.address, "ranks": list(one.ranks)}
        for one in crew.machines
    ]
    shown = ", ".join(f"{one.name}: {shorten_numbers(one.ranks)}" for one in crew.machines[:8])
    more = f" and {len(crew.machines) - 8:,} more" if len(crew.machines) > 8 else ""
    sentence = f"{count_of(len(crew.machines), 'machine')} with ranks {shown}{more}"
    return Check("machines", sentence, tuple(_misplaced(crew)), measured={"machines": machines})


def _misplaced(crew: Crew) -> Iterator[Problem]:
    by_plan: dict[int, set[str]] = defaultdict(set)
    for machine in crew.machines:
        planned = sorted({crew.place.planned_machine(rank) for rank in machine.ranks})
        for number in planned:
            by_plan[number].add(machine.name)
        if len(planned) > 1:
            yield Problem(
                "wrong",
                f"{machine.name} runs ranks {shorten_numbers(machine.ranks)}, which are planned "
                f"for machines {shorten_numbers(planned)}",
                f"start {count_of(crew.place.local_ranks, 'rank')} on each machine, each machine "
                "with its own number",
            )
    for number, names in by_plan.items():
        if len(names) > 1:
            yield Problem(
                "wrong",
                f"the ranks planned for machine {number} run on {' and '.join(sorted(names))}",
                "start all ranks of a machine on that machine, with one number of ranks everywhere",
            )
    different = {hello.local_ranks for hello in crew.hellos}
    if len(different) > 1:
        yield Problem(
            "wrong",
            f"machines were started with different numbers of ranks: {shorten_numbers(different)}",
            "give the same number of devices on every machine",
        )
