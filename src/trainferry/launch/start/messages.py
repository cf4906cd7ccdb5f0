"""What machines tell the meeting, and what it answers, as lines of JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from trainferry.launch.start.failure import RankFailure

# waiting: no ranks run, ready for a round. running: ranks of `round` run. done: they all ended
# well. left: this machine does not come back.
State = Literal["waiting", "running", "done", "left"]
Phase = Literal["gathering", "running", "ended"]

LONGEST_LINE = 1 << 20


@dataclass(frozen=True)
class Seat:
    """A machine of a round: its own mark, and the address that people and ranks know it by."""

    id: str
    machine: str


@dataclass(frozen=True, kw_only=True)
class Beat:
    """What a machine says every second. `round` is the last one it ran ranks of.

    `store` is where the ranks of that round meet, told by its first machine. `failed_before` is
    how many seconds ago `failure` happened, so that no clocks are compared.
    """

    job: str
    id: str
    machine: str
    devices: int
    state: State
    node: int | None = None
    round: int = 0
    store: str = ""
    failure: RankFailure | None = None
    failed_before: float = 0.0
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class View:
    """What the meeting answers: how things stand. `reason` says why ranks were stopped.

    `meeting` differs when the machine that holds the meeting was started anew. `refused` says why
    the machine that asked cannot take part.
    """

    meeting: str
    phase: Phase
    round: int
    roster: tuple[Seat, ...] = ()
    here: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    store: str = ""
    restarts: int = 0
    reason: str = ""
    failure: RankFailure | None = None
    refused: str = ""

    def seat_of(self, id: str) -> int | None:
        """The number of a machine in the round, or None for one that is not in it."""
        return next((place for place, seat in enumerate(self.roster) if seat.id == id), None)


def to_line(message: Beat | View) -> bytes:
    return json.dumps(asdict(message)).encode() + b"\n"


def read_beat(line: bytes) -> Beat:
    """The beat in a line that came over the network; raises ValueError for anything else."""
    values = _object(line, Beat)
    if values.get("state") not in get_args(State):
        raise ValueError("no such state")
    return Beat(**{**values, "failure": _failure(values.get("failure"))})


def read_view(line: bytes) -> View:
    """The view in a line that came over the network; raises ValueError for anything else."""
    values = _object(line, View)
    if values.get("phase") not in get_args(Phase):
        raise ValueError("no such phase")
    return View(
        **{
            **values,
            "failure": _failure(values.get("failure")),
            "roster": tuple(Seat(str(one["id"]), str(one["machine"])) for one in values["roster"]),
            "here": tuple(map(str, values["here"])),
            "lost": tuple(map(str, values["lost"])),
        }
    )


def _object(line: bytes, kind: type[Beat | View]) -> dict[str, Any]:
    values = json.loads(line)
    known = {one.name: one.type for one in fields(kind)}
    if not isinstance(values, dict) or set(values) != set(known):
        raise ValueError("these are not the fields of a message")
    for name, value in values.items():
        if not isinstance(value, _KINDS.get(str(known[name]), object)):
            raise ValueError(f"{name} is of another kind")
    return values


def _failure(values: dict[str, Any] | None) -> RankFailure | None:
    if values is None:
        return None
    return RankFailure(
        int(values["rank"]),
        str(values["machine"]),
        int(values["code"]),
        str(values["log"]),
        tuple(map(str, values["last_lines"])),
        tuple(map(str, values["explained"])),
    )


_KINDS: dict[str, Any] = {
    "str": str,
    "int": int,
    "float": (int, float),
    "int | None": (int, type(None)),
    "RankFailure | None": (dict, type(None)),
    "tuple[str, ...]": list,
    "tuple[Seat, ...]": list,
}
