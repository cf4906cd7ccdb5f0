"""The graph grows while it trains.

A script that calls functions of TensorFlow within its loop adds operators at every step. On the
device a changed graph is compiled anew each time, minutes in large networks, and memory fills.

Build everything before the loop; `tf.get_default_graph().finalize()` shows the line that adds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.rank import Rank


def on_rank(rank: Rank) -> Iterator[Finding]:
    grown = rank.facts.grown
    # What is built once after the first step, such as a saver, does not come again.
    if len(grown) < 2:
        return
    kinds = Counter(run.place for run in rank.facts.runs if run.place and not run.train)
    again = tuple(place for place, number in kinds.items() if number > 1)
    places = tuple(place for step in rank.train_steps for place in step.places)
    yield Finding(
        "growing-graph",
        Severity.RISK,
        f"the graph grew at {len(grown)} steps, by {grown[-1].operators} operators at step"
        f" {grown[-1].step}",
        "build everything before the loop",
        again or tuple(dict.fromkeys(places)),
    )
