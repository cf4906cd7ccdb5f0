"""Which `batch` of a dataset an iterator reads, and whether it keeps the last, smaller batch."""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.facts import DATA, Graph, Operator
from trainferry.rehearse.tracing.rank import functions_of

_ALWAYS_KEEP = ("BatchDataset", "PaddedBatchDataset")
_MAY_DROP = (
    "BatchDatasetV2",
    "ParallelBatchDataset",
    "PaddedBatchDatasetV2",
    "MapAndBatchDataset",
    "ExperimentalMapAndBatchDataset",
)


def batches_that_keep_the_rest(graph: Graph, get_next: Operator) -> list[Operator]:
    """The operators that make the batches of this iterator and keep what is left at the end."""
    return [one for one in pipeline_of(graph, get_next) if _keeps(graph, one)]


def pipeline_of(graph: Graph, get_next: Operator) -> Iterator[Operator]:
    """All operators of the pipeline behind an iterator, those of its functions too."""
    iterators = set(graph.inputs_of(get_next))
    todo = [
        one
        for one in graph.operators
        if (one.name in iterators and not one.function)
        or (
            one.function == DATA
            and one.kind == "MakeIterator"
            and iterators.intersection(graph.inputs_of(one))
        )
    ]
    seen = {id(one) for one in todo}
    while todo:
        one = todo.pop()
        yield one
        called = set(functions_of(graph, one))
        following = [graph.named(name, one.function) for name in graph.inputs_of(one)]
        if called:
            following += [inner for inner in graph.operators if inner.function in called]
        for other in following:
            if other is not None and id(other) not in seen:
                seen.add(id(other))
                todo.append(other)


def _keeps(graph: Graph, operator: Operator) -> bool:
    if operator.kind in _ALWAYS_KEEP:
        return True
    drops = graph.input(operator, -1) if operator.kind in _MAY_DROP else None
    return drops is not None and drops.attributes.get("value") is False
