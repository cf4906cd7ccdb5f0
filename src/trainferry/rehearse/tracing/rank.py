"""One rank as the checks see it: its facts, and each kind of train step with its graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from trainferry.rehearse.facts import DATA, FED, Graph, Operator, Run, RunFacts, Session, Shape

ITERATORS = ("IteratorGetNext", "IteratorGetNextSync")
PLACEHOLDERS = ("Placeholder", "PlaceholderV2", "PlaceholderWithDefault")
# They make or hold an input pipeline, which runs on the host.
_PIPELINE = ("Iterator", "IteratorV2", "OneShotIterator", "MakeIterator", "AnonymousIterator")
_DYNAMIC = ("compile_dynamic_mode", "dynamic_input")
_LEFT_ON_HOST = "_without_npu_compile"
_ENTER = ("Enter", "RefEnter")
_EXIT = ("Exit", "RefExit")


@dataclass(frozen=True, eq=False)
class TrainStep:
    """One kind of train step."""

    run: Run
    graph: Graph
    session: Session | None
    still_open: Mapping[str, Sequence[Shape]]
    """What stays open when the inputs have the shapes that were seen."""
    shapes: Mapping[str, tuple[Shape, ...]]
    """The different shapes that each input had, in the order they came."""

    @property
    def places(self) -> tuple[str, ...]:
        return (self.run.place,) if self.run.place else ()

    @cached_property
    def main(self) -> tuple[Operator, ...]:
        """What the run itself executes, without bodies of functions."""
        return tuple(self.graph.by_name.values())

    @cached_property
    def options(self) -> dict[str, object]:
        """The NPU's options in its session; of several entries the last value holds."""
        return {} if self.session is None else options_of(self.session)

    @property
    def leaves_to_host(self) -> bool:
        """Whether operators that the device has not may stay on the host."""
        return self.options.get("mix_compile_mode") is True

    @property
    def takes_any_shape(self) -> bool:
        return any(self.options.get(name) is True for name in _DYNAMIC)

    @property
    def per_loop(self) -> int:
        """Steps that the session says for one loop on the device."""
        steps = self.options.get("iterations_per_loop", 1)
        return steps if isinstance(steps, int) and not isinstance(steps, bool) else 1

    @cached_property
    def on_device(self) -> tuple[Operator, ...]:
        """What the device would run: no pipeline, no stand-in, nothing left on the host."""
        hosted = {DATA, FED, *self.pipeline_functions}
        return tuple(
            one
            for one in self.graph.operators
            if one.function not in hosted
            and not (self._stands_in(one) or is_pipeline(one) or one.attributes.get(_LEFT_ON_HOST))
        )

    def _stands_in(self, operator: Operator) -> bool:
        """Gradients of stand-ins do so too: the device has operators of its own for them."""
        if operator.stand_in:
            return True
        forward = self.graph.named(operator.attributes.get("gradient_of", ""), operator.function)
        return forward is not None and bool(forward.stand_in)

    @cached_property
    def inputs(self) -> tuple[Operator, ...]:
        """Iterators, placeholders, and whatever else is fed."""
        kinds = (*ITERATORS, *PLACEHOLDERS)
        fed = [one for one in self.graph.operators if one.function == FED]
        return (*fed, *(one for one in self.main if one.kind in kinds))

    @cached_property
    def pipeline_functions(self) -> frozenset[str]:
        """The functions that only the input pipeline calls, such as those of `Dataset.map`."""
        callers: dict[str, list[Operator]] = {}
        for one in self.graph.operators:
            for name in functions_of(self.graph, one):
                callers.setdefault(name, []).append(one)
        hosted: set[str] = {DATA}
        before = 0
        while before != len(hosted):
            before = len(hosted)
            hosted |= {
                name
                for name, ones in callers.items()
                if all(is_pipeline(one) or one.function in hosted for one in ones)
            }
        return frozenset(hosted - {DATA})

    @cached_property
    def inside_loops(self) -> frozenset[str]:
        """The operators in the bodies and conditions of loops of the older kind."""
        todo = [one for one in self.main if one.kind in _ENTER]
        inside = {one.name for one in todo}
        while todo:
            for reader in self.graph.readers(todo.pop()):
                if reader.name not in inside and reader.kind not in _EXIT:
                    inside.add(reader.name)
                    todo.append(reader)
        return frozenset(inside)


@dataclass(frozen=True, eq=False)
class Rank:
    """What one rank did."""

    facts: RunFacts

    @property
    def number(self) -> int:
        return self.facts.rank

    @cached_property
    def train_steps(self) -> tuple[TrainStep, ...]:
        sessions = {session.number: session for session in self.facts.sessions}
        return tuple(
            TrainStep(
                run,
                self.facts.graphs[run.graph],
                sessions.get(run.session),
                self.facts.pinned.get(run.graph, {}),
                self._shapes_of(run),
            )
            for run in self.facts.runs
            if run.train
        )

    def _shapes_of(self, run: Run) -> dict[str, tuple[Shape, ...]]:
        seen: dict[str, dict[Shape, None]] = {}
        for told in self.facts.inputs:
            if told.run == run.number:
                for tensor, shape in told.shapes.items():
                    seen.setdefault(tensor, {})[shape] = None
        return {tensor: tuple(shapes) for tensor, shapes in seen.items()}


def options_of(session: Session) -> dict[str, object]:
    options: dict[str, object] = {}
    for entry in session.config.get("npu_entries", ()):
        options.update(entry)
    return options


def is_pipeline(operator: Operator) -> bool:
    return operator.kind in _PIPELINE or "Dataset" in operator.kind


def is_open(shape: Shape) -> bool:
    return shape is None or None in shape


def functions_of(graph: Graph, operator: Operator) -> Iterator[str]:
    """The functions whose bodies are in the graph and that this operator calls."""
    for value in (operator.kind, *operator.attributes.values()):
        for name in value if isinstance(value, list) else (value,):
            if isinstance(name, str) and name in graph.functions:
                yield name
