"""Every rank reads all of the data.

The pipelines of all ranks read the same files or arrays and hold no `shard`; what makes their
batches differ is the order in which each rank shuffles. Training goes on, but an epoch of each
rank is one of all the data: schedules that count epochs come to an end as many times too late as
there are ranks.

    dataset = dataset.shard(get_rank_size(), get_rank_id())

before `shuffle`. Where steps are counted and not epochs, there is nothing to do. Pipelines that
generators or feeds fill are not looked into.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from trainferry.rehearse.facts import Graph, Operator
from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.batches import pipeline_of
from trainferry.rehearse.tracing.places import names_of, places_of
from trainferry.rehearse.tracing.rank import ITERATORS, PLACEHOLDERS, Rank
from trainferry.rehearse.tracing.sources import SOURCES

# What they give is known to the rank alone.
_HIDES = (*PLACEHOLDERS, "GeneratorDataset", "PyFunc", "PyFuncStateless", "EagerPyFunc")
_SHARES = ("ShardDataset", "AutoShardDataset", "AutoShardDatasetV2", "ExperimentalAutoShardDataset")
_MIXES = "Shuffle"


def on_ranks(ranks: Sequence[Rank]) -> Iterator[Finding]:
    told = [rank.facts.batches for rank in ranks]
    if not any(len({batches[step] for batches in told}) > 1 for step in _common(told)):
        return  # `same-batch` tells
    first, *others = [list(_pipelines(rank)) for rank in ranks]
    for number, (graph, pipeline) in enumerate(first):
        same = all(
            number < len(other) and _content(*other[number]) == _content(graph, pipeline)
            for other in others
        )
        sources = [one for one in pipeline if one.kind in SOURCES]
        if same and sources and _is_only_mixed(pipeline):
            yield Finding(
                "unshared-data",
                Severity.NOTE,
                "every rank reads all of the data, in an order of its own",
                "write `dataset.shard(get_rank_size(), get_rank_id())` before `shuffle`, if epochs"
                " are counted",
                places_of(sources) or places_of(pipeline),
                names_of(sources),
                tuple(rank.number for rank in ranks),
            )
            return


def _common(told: Sequence[Mapping[int, int]]) -> set[int]:
    return set.intersection(*map(set, told))


def _pipelines(rank: Rank) -> Iterator[tuple[Graph, list[Operator]]]:
    for step in rank.train_steps:
        for one in step.inputs:
            if one.kind in ITERATORS:
                yield step.graph, list(pipeline_of(step.graph, one))


def _is_only_mixed(pipeline: list[Operator]) -> bool:
    kinds = [one.kind for one in pipeline]
    hidden = any(kind in _HIDES or kind in _SHARES for kind in kinds)
    return not hidden and any(_MIXES in kind for kind in kinds)


def _content(graph: Graph, pipeline: list[Operator]) -> list[tuple[str, str]]:
    """Kinds and constants, without the seeds of shuffles."""
    mixing = [one for one in pipeline if _MIXES in one.kind]
    seeds = {
        id(graph.named(name, one.function)) for one in mixing for name in graph.inputs_of(one)[2:]
    }
    return sorted(
        (one.kind, str([one.attributes.get("value"), one.attributes.get("crc")]))
        for one in pipeline
        if id(one) not in seeds
    )
