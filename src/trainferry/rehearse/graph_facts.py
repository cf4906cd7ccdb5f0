"""Reads the operators of one run, as the watch wrote them into a file of `graphs/`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

Shape = tuple[int | None, ...] | None
"""The sizes of a tensor, None for an open one; None alone where even the rank is open."""

DATA = "@data"
"""The function of operators that give an iterator its data; the run itself does not reach them."""

FED = "@feed"
"""The function of operators whose outputs the script feeds; the run does not execute them."""


@dataclass(frozen=True)
class Output:
    """One output of an operator."""

    dtype: str
    shape: Shape


@dataclass(frozen=True)
class Operator:
    """One operator of a graph."""

    name: str
    kind: str
    place: str = ""
    """`file:line` of the user's innermost line that made it; empty where there is none."""
    device: str = ""
    inputs: tuple[str, ...] = ()
    """`a` or `a:1` for what it takes, `^a` for what it waits for."""
    outputs: tuple[Output, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    """A few, chosen by kind; `gradient_of` names the operator that a gradient belongs to."""
    stand_in: str = ""
    """The device's operator that this one stands in for; empty for TensorFlow's own."""
    function: str = ""
    """The function whose body it belongs to, DATA, FED, or empty."""


@dataclass(frozen=True, eq=False)
class Graph:
    """The operators of one run, and the bodies of the functions that it calls."""

    operators: tuple[Operator, ...] = ()
    version: int = 0
    producer: str = ""
    feeds: tuple[str, ...] = ()

    @cached_property
    def by_name(self) -> Mapping[str, Operator]:
        """What the run executes, by name; neither functions nor data."""
        return {one.name: one for one in self.operators if not one.function}

    @cached_property
    def functions(self) -> frozenset[str]:
        """The functions whose bodies are here."""
        return frozenset(one.function for one in self.operators) - {"", DATA, FED}

    def named(self, name: str, function: str = "") -> Operator | None:
        """The operator `name` of a function's body, or of the graph itself."""
        return self._all.get((_space(function), name))

    def inputs_of(self, operator: Operator) -> list[str]:
        """The names of the operators whose outputs it takes, in order."""
        return [operator_of(name) for name in operator.inputs if not name.startswith("^")]

    def input(self, operator: Operator, number: int) -> Operator | None:
        """The operator behind an input; negative numbers count from the last."""
        names = self.inputs_of(operator)
        if not -len(names) <= number < len(names):
            return None
        return self.named(names[number], operator.function)

    def input_dtypes(self, operator: Operator) -> tuple[str, ...]:
        """The dtypes of what it takes, as far as they are known."""
        return tuple(output.dtype for output in self._taken(operator))

    def readers(self, operator: Operator) -> Sequence[Operator]:
        """The operators that take one of its outputs."""
        return self._readers.get((_space(operator.function), operator.name), ())

    def _taken(self, operator: Operator) -> Iterator[Output]:
        for tensor in operator.inputs:
            source = self.named(operator_of(tensor), operator.function)
            # In the body of a function an output may have a name too: `a:output:0`.
            number = int(tensor.rpartition(":")[2]) if ":" in tensor else 0
            if source is not None and tensor[0] != "^" and number < len(source.outputs):
                yield source.outputs[number]

    @cached_property
    def _all(self) -> Mapping[tuple[str, str], Operator]:
        return {(_space(one.function), one.name): one for one in self.operators}

    @cached_property
    def _readers(self) -> Mapping[tuple[str, str], list[Operator]]:
        found: dict[tuple[str, str], list[Operator]] = {}
        for one in self.operators:
            for name in dict.fromkeys(self.inputs_of(one)):
                found.setdefault((_space(one.function), name), []).append(one)
        return found


def operator_of(tensor: str) -> str:
    """The operator behind `a`, `a:1` or `^a`."""
    return tensor.removeprefix("^").split(":", 1)[0]


def read_graph(path: Path) -> Graph:
    """One file of `graphs/`."""
    value = json.loads(path.read_text("utf-8"))
    return Graph(
        version=value["version"],
        producer=value["producer"],
        feeds=tuple(value.get("feeds", ())),
        operators=tuple(_operator(row) for row in value["operators"]),
    )


def as_shape(sizes: Sequence[int | None] | None) -> Shape:
    return None if sizes is None else tuple(sizes)


def _operator(row: Sequence[Any]) -> Operator:
    name, kind, place, device, inputs, outputs, attributes, stand_in, function = row
    return Operator(
        name=name,
        kind=kind,
        place=place,
        device=device,
        inputs=tuple(inputs),
        outputs=tuple(Output(dtype, as_shape(sizes)) for dtype, sizes in outputs),
        attributes=attributes,
        stand_in=stand_in,
        function=function,
    )


def _space(function: str) -> str:
    """Data pipelines and what is fed have their names in the same graph as the run."""
    return "" if function in (DATA, FED) else function
