"""What ranks must agree in, and how to say that they do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

HANG = "on the device this run would hang"


@dataclass(frozen=True)
class Request:
    """The part of one rank in a collective, or one end of a transfer."""

    rank: int
    header: dict[str, Any]
    payload: bytes

    @property
    def key(self) -> str:
        return f"{self.header['group']}|{self.header['tag']}"

    @property
    def members(self) -> tuple[int, ...]:
        """The ranks whose parts are needed."""
        options = self.header["options"]
        if "from" in options:
            return (options["from"], options["to"])
        return tuple(self.header["members"])

    @property
    def kind(self) -> str:
        return str(self.header["kind"])

    def parts(self, waiting: Mapping[int, Request]) -> Iterator[Request]:
        """Whose values this rank is answered with, in rank order."""
        if "from" not in self.header["options"]:
            yield from (waiting[rank] for rank in self.members)
        elif self.rank == self.header["options"]["to"]:
            yield waiting[self.header["options"]["from"]]

    def __str__(self) -> str:
        place = f" at {self.header['place']}" if self.header["place"] else ""
        return f"rank {self.rank}: {self.kind} `{self.header['operator']}`{place}"


@dataclass(frozen=True)
class HubFinding:
    """Why the ranks cannot go on together."""

    name: str
    message: str
    ranks: tuple[int, ...]
    operators: tuple[str, ...]
    places: tuple[str, ...]

    @classmethod
    def of(cls, name: str, message: str, requests: Iterable[Request]) -> HubFinding:
        found = list(requests)
        return cls(
            name,
            message,
            tuple(sorted({request.rank for request in found})),
            tuple(dict.fromkeys(str(request.header["operator"]) for request in found)),
            tuple(dict.fromkeys(str(request.header["place"]) for request in found)),
        )

    @classmethod
    def left(cls, gone: list[int], waiting: list[Request]) -> HubFinding:
        ended = " and ".join(f"rank {rank}" for rank in gone)
        text = f"{ended} left while others waited for it: {HANG} ({_listed(waiting)})"
        return cls.of("rank-left", text, waiting)

    @classmethod
    def stalled(cls, waiting: list[Request]) -> HubFinding:
        first = [
            min(
                (request for request in waiting if request.rank == rank),
                key=lambda request: int(request.header["id"]),
            )
            for rank in sorted({request.rank for request in waiting})
        ]
        text = f"every rank waits, but not for the same: {HANG} ({_listed(first)})"
        return cls.of("ranks-stalled", text, first)


def check_parts(parts: list[Request]) -> HubFinding | None:
    """Ranks must agree in operator, group, reduction, root, dtypes and shapes."""
    first, last = parts[0], parts[-1]
    for what, one, other in _differences(first, last):
        text = (
            f"ranks disagree in the {what} of one collective: {one} and {other}; {HANG} or "
            f"exchange wrong numbers ({_listed([first, last])})"
        )
        return HubFinding.of("ranks-disagree", text, [first, last])
    return None


def check_plans(number: int, plans: Mapping[int, dict[str, Any]]) -> HubFinding | None:
    """Compare which collectives one run of the session holds on each rank."""
    (first, known), *others = sorted(plans.items())
    for rank, plan in others:
        if plan["operators"] == known["operators"]:
            continue
        only = [name for name in known["operators"] if name not in plan["operators"]]
        extra = [name for name in plan["operators"] if name not in known["operators"]]
        told = [
            f"only rank {who} has {', '.join(f'`{name}`' for name in names[:3])}"
            + (f" and {len(names) - 3} more" if len(names) > 3 else "")
            for who, names in ((first, only), (rank, extra))
            if names
        ] or ["the order differs"]
        text = (
            f"the graphs of ranks {first} and {rank} hold other collectives "
            f"(run {number + 1} with collectives, rank {first} at {known['place']}, "
            f"rank {rank} at {plan['place']}): {'; '.join(told)}; {HANG}"
        )
        return HubFinding(
            "graphs-differ", text, (first, rank), (*only, *extra), (known["place"], plan["place"])
        )
    return None


def _differences(one: Request, other: Request) -> Iterator[tuple[str, object, object]]:
    if "from" in one.header["options"]:
        if {one.kind, other.kind} == {"receive"} or one.kind == other.kind == "send":
            return
    elif one.kind != other.kind:
        yield "operator", one.kind, other.kind
    if one.members != other.members:
        yield "group", one.members, other.members
    options, others = one.header["options"], other.header["options"]
    for name in ("reduction", "root"):
        if options.get(name) != others.get(name):
            yield name, options.get(name), others.get(name)
    yield from _tensors(one, other)


def _tensors(one: Request, other: Request) -> Iterator[tuple[str, object, object]]:
    tensors, others = one.header["tensors"], other.header["tensors"]
    if len(tensors) != len(others):
        yield "number of tensors", len(tensors), len(others)
    start = 1 if one.header["options"].get("uneven") else 0
    for (dtype, shape), (other_dtype, other_shape) in zip(tensors, others, strict=False):
        if dtype != other_dtype:
            yield "dtype", dtype, other_dtype
        if shape[start:] != other_shape[start:]:
            yield "shape", shape, other_shape


def _listed(requests: Iterable[Request]) -> str:
    return "; ".join(str(request) for request in requests)
