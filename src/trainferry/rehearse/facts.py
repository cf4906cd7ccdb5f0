"""Reads what the watch wrote in the user's process: one rank's run as plain values.

`RunFacts` mirrors `facts.jsonl`, which `probe/watch` writes line by line. Nothing here judges:
checks and comparisons do.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trainferry.errors import RehearsalError
from trainferry.rehearse.graph_facts import (
    DATA,
    FED,
    Graph,
    Operator,
    Output,
    Shape,
    as_shape,
    operator_of,
    read_graph,
)

__all__ = [
    "DATA",
    "FED",
    "End",
    "Graph",
    "Grown",
    "Inputs",
    "Note",
    "Operator",
    "Output",
    "Run",
    "RunFacts",
    "Session",
    "Shape",
    "Start",
    "Step",
    "operator_of",
    "read_facts",
    "read_graph",
]


@dataclass(frozen=True)
class Start:
    """The process that ran the script."""

    tensorflow: str
    python: str
    argv: tuple[str, ...]
    rank: int
    ranks: int
    folder: str
    """The script's folder; places are relative to it."""
    process: int = 0


@dataclass(frozen=True)
class Session:
    """A session that the script opened."""

    number: int
    place: str
    config: Mapping[str, Any]
    """`npu_entries`: the options of each NpuOptimizer entry; the rest by ConfigProto's names."""
    patched: bool = False
    """The adapter changes every session by itself, as the newest does."""
    closed: bool = False
    """By the script, or by TensorFlow for it; not by the end of the process."""


@dataclass(frozen=True)
class Run:
    """A set of fetches and feeds that the script ran, once or often."""

    number: int
    session: int
    graph: str
    """The key of its graph; the graph is empty where writing it would have taken too long."""
    fetches: tuple[str, ...] = ()
    feeds: tuple[str, ...] = ()
    train: bool = False
    place: str = ""
    operators: int = 0
    loop: int = 1
    """Steps that the device makes in one such run."""
    losses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """One train step."""

    number: int
    run: int
    seconds: float
    loss: float | None
    tensor: str | None
    """The tensor that `loss` is the value of."""


@dataclass(frozen=True)
class Inputs:
    """The shapes that iterators, queues and feeds gave, from this step on."""

    step: int
    run: int
    shapes: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class Grown:
    """The graph had more operators than at the step before."""

    step: int
    run: int
    operators: int


@dataclass(frozen=True)
class Note:
    """What a stand-in of the vendor's packages noted."""

    name: str
    message: str
    place: str
    rank: int


@dataclass(frozen=True)
class End:
    """How the script ended, seen from inside."""

    steps: int
    reason: str
    """`limit`: all steps asked for were made; `script`: it ended by itself; `error`."""
    error: str | None = None
    cut: bool = False
    """We left a loop of the script by an exception: what follows the loop did not run."""


@dataclass(frozen=True)
class RunFacts:
    """All that is known of one rank's run."""

    start: Start | None = None
    """None where the script did not even import TensorFlow."""
    sessions: tuple[Session, ...] = ()
    runs: tuple[Run, ...] = ()
    graphs: Mapping[str, Graph] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    inputs: tuple[Inputs, ...] = ()
    pinned: Mapping[str, Mapping[str, tuple[Shape, ...]]] = field(default_factory=dict)
    """{graph: {operator: shapes of its outputs}}, what stays open with the inputs that were seen"""
    weights: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    """{step: {variable: checksum}}"""
    batches: Mapping[int, int] = field(default_factory=dict)
    """{step: checksum of what the step was given}"""
    grown: tuple[Grown, ...] = ()
    inits: tuple[str, ...] = ()
    """Places where the device was started."""
    shutdowns: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    problems: tuple[str, ...] = ()
    """What the watch could not do, e.g. infer the shapes of a graph anew."""
    end: End | None = None
    """None where the process was killed or left without Python's help."""

    @property
    def rank(self) -> int:
        return 0 if self.start is None else self.start.rank


def read_facts(folder: Path) -> RunFacts:
    """The facts of one rank; of several processes, those of the one that trained most."""
    found = [_read_process(folder, path) for path in _processes(folder)]
    notes = folder / "notes.jsonl"
    told = tuple(Note(**row) for row in _read_lines(notes)) if notes.exists() else ()
    if not found:
        return RunFacts(notes=told)
    best = max(found, key=lambda facts: (len(facts.steps), len(facts.runs)))
    return replace(best, notes=told)


class _Graphs(Mapping[str, Graph]):
    """The graphs of a run, each read when it is asked for."""

    def __init__(self, folder: Path, names: tuple[str, ...]) -> None:
        self._folder = folder
        self._names = dict.fromkeys(names)
        self._read: dict[str, Graph] = {}

    def __getitem__(self, name: str) -> Graph:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._read:
            self._read[name] = read_graph(self._folder / name) if name else Graph()
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _processes(folder: Path) -> list[Path]:
    """The files of all processes, that of the first first."""
    return sorted(folder.glob("facts*.jsonl"), key=lambda path: (len(path.name), path.name))


def _read_process(folder: Path, path: Path) -> RunFacts:
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in _read_lines(path):
        rows.setdefault(row.pop("kind"), []).append(row)

    def of(kind: str) -> list[dict[str, Any]]:
        return rows.get(kind, [])

    closed = {row["id"] for row in of("session_closed")}
    runs = tuple(_run(row) for row in of("run"))
    return RunFacts(
        start=next((Start(**{**row, "argv": tuple(row["argv"])}) for row in of("start")), None),
        sessions=tuple(_session(row, row["id"] in closed) for row in of("session")),
        runs=runs,
        graphs=_Graphs(folder, tuple(run.graph for run in runs)),
        steps=tuple(Step(**row) for row in of("step")),
        inputs=tuple(
            Inputs(row["step"], row["run"], {name: tuple(s) for name, s in row["shapes"].items()})
            for row in of("inputs")
        ),
        pinned={row["graph"]: _shapes(row["open"]) for row in of("pinned")},
        weights={row["step"]: row["crc"] for row in of("weights")},
        batches={row["step"]: row["crc"] for row in of("batch")},
        grown=tuple(Grown(**row) for row in of("grown")),
        inits=tuple(row["place"] for row in of("init")),
        shutdowns=tuple(row["place"] for row in of("shutdown")),
        problems=tuple(
            [f"{row['graph']}: {row['problem']}" for row in of("pinned") if row["problem"]]
            + [row["text"] for row in of("forced_exit")]
        ),
        end=next((End(**row) for row in of("end")), None),
    )


def _session(row: dict[str, Any], closed: bool) -> Session:
    return Session(row["id"], row["place"], row["config"], row["patched"], closed)


def _run(row: dict[str, Any]) -> Run:
    return Run(
        number=row["id"],
        session=row["session"],
        graph=row["graph"] or "",
        fetches=tuple(row["fetches"]),
        feeds=tuple(row["feeds"]),
        train=row["train"],
        place=row["place"],
        operators=row["operators"],
        loop=row["loop"],
        losses=tuple(row["losses"]),
    )


def _shapes(opened: Mapping[str, Any]) -> dict[str, tuple[Shape, ...]]:
    return {name: tuple(map(as_shape, outputs)) for name, outputs in opened.items()}


def _read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a file; the last line may be cut short where the script was killed."""
    lines = path.read_text("utf-8").split("\n")
    found = []
    for number, line in enumerate(lines, start=1):
        try:
            found += [json.loads(line)] if line else []
        except ValueError as error:
            if number == len(lines):
                break
            raise RehearsalError(
                f"line {number} of {path} is not one of the watch's facts: {error}",
                hint="run the rehearsal again with a new run folder",
            ) from error
    return found
