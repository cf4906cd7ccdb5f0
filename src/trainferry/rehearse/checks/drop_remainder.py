"""A dataset keeps its last, smaller batch.

`dataset.batch(n)` leaves the batch open, because the last one may be smaller. On the device
each size is compiled anew, and with several ranks the one that meets the small batch first keeps
the others waiting.

Write `batch(n, drop_remainder=True)` for training; for evaluation fill the last batch up
instead, so that no sample is lost.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.facts import Graph, Operator
from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.batches import batches_that_keep_the_rest
from trainferry.rehearse.tracing.places import names_of, places_of
from trainferry.rehearse.tracing.rank import ITERATORS, Rank
from trainferry.rehearse.tracing.shapes import open_inputs


def on_rank(rank: Rank) -> Iterator[Finding]:
    for step in rank.train_steps:
        for one in open_inputs(step):
            if one.kind not in ITERATORS or step.takes_any_shape:
                continue
            kept = batches_that_keep_the_rest(step.graph, one)
            if kept:
                # The body of a one-shot iterator has no lines of its own.
                places = places_of(kept) or places_of(_iterators(step.graph, one))
                yield Finding(
                    "drop-remainder",
                    Severity.RISK,
                    "training reads a dataset that keeps its last, smaller batch",
                    "write `drop_remainder=True`",
                    places,
                    names_of([one, *kept]),
                )


def _iterators(graph: Graph, get_next: Operator) -> list[Operator]:
    return [one for name in graph.inputs_of(get_next) if (one := graph.named(name)) is not None]
