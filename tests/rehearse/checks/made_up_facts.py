"""Builds what a rank did without running anything: operators, sessions, shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trainferry.rehearse.check import check_run
from trainferry.rehearse.facts import (
    End,
    Graph,
    Inputs,
    Note,
    Operator,
    Output,
    Run,
    RunFacts,
    Session,
    Start,
)
from trainferry.rehearse.finding import Finding

NPU = {"use_off_line": True}


def op(
    name: str,
    kind: str,
    inputs: Sequence[str] = (),
    *,
    shape: Sequence[int | None] | None = (4,),
    dtype: str = "float32",
    **more: Any,
) -> Operator:
    """An operator with one output, written in the line `train.py:NAME`."""
    output = Output(dtype, None if shape is None else tuple(shape))
    return Operator(name, kind, f"train.py:{name}", inputs=tuple(inputs), outputs=(output,), **more)


def trained(
    *operators: Operator,
    options: Mapping[str, Any] | None = None,
    config: Mapping[str, Any] | None = None,
    **more: Any,
) -> RunFacts:
    """One rank that made train steps of these operators."""
    rank = more.pop("rank", 0)
    run = Run(1, 1, "graphs/1.json", feeds=more.pop("feeds", ()), train=True, place="train.py:run")
    return RunFacts(
        start=Start("1.15.5", "3.7", ("train.py",), rank, more.pop("ranks", 1), ""),
        sessions=(session(options=options, config=config),),
        runs=(run,),
        graphs={"graphs/1.json": Graph(operators)},
        end=more.pop("end", End(steps=3, reason="script")),
        **more,
    )


def session(
    options: Mapping[str, Any] | None = None, config: Mapping[str, Any] | None = None
) -> Session:
    """A closed session as the newest adapter makes it."""
    settings = {
        "npu_entries": [dict(NPU, **(options or {}))],
        "remapping": "OFF",
        "allow_soft_placement": True,
        **(config or {}),
    }
    return Session(1, "train.py:session", settings, patched=True, closed=True)


def seen(*shapes: Mapping[str, tuple[int, ...]]) -> tuple[Inputs, ...]:
    """The shapes of the inputs at step 1, 2, …"""
    return tuple(Inputs(step, 1, one) for step, one in enumerate(shapes, 1))


def note(name: str) -> Note:
    return Note(name, "a message", "train.py:note", 0)


def found(facts: RunFacts, name: str) -> list[Finding]:
    """The findings of one check; asserts that each is told by its own name."""
    return [finding for finding in check_run([facts]) if finding.check == name]


def only(facts: RunFacts) -> Finding:
    """The one finding that there is."""
    (finding,) = check_run([facts])
    return finding
