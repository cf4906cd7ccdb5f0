"""All ranks read the same data.

Every batch of the rehearsal was the same on all ranks. Then the ranks compute the same gradient,
and many devices learn no more in a step than one.

    dataset = dataset.shard(get_rank_size(), get_rank_id())

before `shuffle` and `batch`, for arrays that are fed `samples[get_rank_id()::get_rank_size()]`, or
a seed of its own for every rank that draws its data at random.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainferry.rehearse.facts import DATA, FED
from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.places import names_of, places_of
from trainferry.rehearse.tracing.rank import Rank, TrainStep
from trainferry.rehearse.tracing.sources import SOURCES

_SHARD = "dataset.shard(get_rank_size(), get_rank_id())"
_SLICE = "samples[get_rank_id()::get_rank_size()]"


def on_ranks(ranks: Sequence[Rank]) -> Iterator[Finding]:
    told = [rank.facts.batches for rank in ranks]
    steps = set.intersection(*map(set, told))
    if len(steps) < 2 or any(len({batches[step] for batches in told}) > 1 for step in steps):
        return
    if len({told[0][step] for step in steps}) == 1:
        return  # one batch for all steps: made-up data, not a dataset that was not shared out
    yield Finding(
        "same-batch",
        Severity.RISK,
        f"all ranks read the same batches in all {len(steps)} steps",
        f"give each rank its share: `{_SLICE if _is_fed(ranks[0]) else _SHARD}`",
        tuple(dict.fromkeys(place for one in ranks[0].train_steps for place in _places(one))),
        names_of(one for step in ranks[0].train_steps for one in step.inputs),
        tuple(rank.number for rank in ranks),
    )


def _is_fed(rank: Rank) -> bool:
    """Whether all that training reads is fed."""
    return {one.function for step in rank.train_steps for one in step.inputs} == {FED}


def _places(step: TrainStep) -> tuple[str, ...]:
    sources = [one for one in step.graph.operators if one.function == DATA and one.kind in SOURCES]
    return places_of(sources) or places_of(step.inputs) or step.places
