"""Several steps per loop are configured, but the train step is not made for it.

`iterations_per_loop` in the session says how often the device repeats a step, and the step has
to be made for it: with `util.set_iteration_per_loop(sess, train_op, N)` or
`util.IterationPerLoop()`, or in an Estimator with `SetIterationsVarHook` and a train operator
called `IterationOp`. Without that one call of `run` is one step, or the run hangs, waiting for
the loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.rank import Rank

_LOOP = "IterationOp"


def on_rank(rank: Rank) -> Iterator[Finding]:
    for step in rank.train_steps:
        steps = step.per_loop
        if steps > 1 and not any(
            _LOOP in one.name.rpartition("/")[2] for one in step.graph.operators
        ):
            yield Finding(
                "loop-not-set",
                Severity.REFUSED,
                f"the session says {steps} steps per loop, but this train step is not made for it",
                f"use `util.set_iteration_per_loop(sess, train_op, {steps})`, or set it to 1",
                step.places,
            )
