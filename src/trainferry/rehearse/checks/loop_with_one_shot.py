"""A step that loops on the device reads a one-shot iterator.

For several steps per loop the dataset itself is moved to the device. That needs an iterator
that is initialised: `make_initializable_iterator()`. A one-shot iterator stays on the host, and
the loop finds no data.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.places import names_of, places_of
from trainferry.rehearse.tracing.rank import Rank


def on_rank(rank: Rank) -> Iterator[Finding]:
    for step in rank.train_steps:
        found = [one for one in step.graph.operators if one.kind == "OneShotIterator"]
        if found and step.per_loop > 1:
            yield Finding(
                "loop-with-one-shot",
                Severity.REFUSED,
                "a step that loops on the device reads a one-shot iterator",
                "use `make_initializable_iterator()` and run its initializer",
                places_of(found),
                names_of(found),
            )
