"""Summaries in a step that loops on the device.

A summary is a string. With `iterations_per_loop` above 1 the device makes several steps before
the host hears of it, and strings do not come back from inside a loop: the summaries are lost, or
the run is refused. A summary in the body of `tf.while_loop` fares no better.

Take summaries out of the train step; with an Estimator give them to `host_call` of
`NPUEstimatorSpec`, or run them every so often in a `session.run` of their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.places import names_of, number_of, places_of
from trainferry.rehearse.tracing.rank import Rank


def on_rank(rank: Rank) -> Iterator[Finding]:
    for step in rank.train_steps:
        steps = step.per_loop
        inside = step.inside_loops
        found = [
            one
            for one in step.graph.operators
            if one.kind.endswith(("Summary", "SummaryV2"))
            and (steps > 1 or one.name in inside or one.function)
        ]
        if found:
            where = f"runs {steps} times in one loop on the device" if steps > 1 else "has a loop"
            yield Finding(
                "summary-in-loop",
                Severity.REFUSED,
                f"a step that {where} writes summaries ({number_of(found)})",
                "take them out of the step, or give them to `host_call`",
                places_of(found),
                names_of(found),
            )
