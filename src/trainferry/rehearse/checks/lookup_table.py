"""A train step asks a lookup table.

Tables of `tf.lookup` and `tf.contrib.lookup` are made and filled on the host; a step on the
device finds them not initialised.

Look words up in the dataset (`dataset.map`), or set `mix_compile_mode`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.places import names_of, places_of
from trainferry.rehearse.tracing.rank import Rank


def on_rank(rank: Rank) -> Iterator[Finding]:
    for step in rank.train_steps:
        if step.leaves_to_host:
            continue
        found = [one for one in step.on_device if one.kind.startswith("LookupTable")]
        if found:
            yield Finding(
                "lookup-table",
                Severity.REFUSED,
                "a train step asks a lookup table, which the host has filled",
                "look up in the dataset, or set `mix_compile_mode`",
                places_of(found),
                names_of(found),
            )
