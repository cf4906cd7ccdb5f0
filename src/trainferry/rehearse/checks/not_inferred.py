"""A part of the rehearsal's own look at the graph did not work.

The shapes of the batches could not be written into the graph, or could not be inferred from
there. Then `open-dimension` tells less than it could; all other checks are as always.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.rank import Rank


def on_rank(rank: Rank) -> Iterator[Finding]:
    for problem in rank.facts.problems:
        yield Finding(
            "not-inferred",
            Severity.NOTE,
            f"shapes could not be followed: {problem}",
            "look at operators with open dimensions yourself",
        )
