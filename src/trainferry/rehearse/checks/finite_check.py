"""A train step asks whether numbers are finite.

First-generation cards do not make Inf or NaN: a number that is too large stays the largest one
there is. `tf.is_finite`, `tf.is_nan` and `tf.check_numerics` then find nothing, and a loss scale
that is lowered only at Inf never is.

Use `NPULossScaleOptimizer` with a manager of the NPU, which read the device's own overflow
status. On newer chips with Inf and NaN turned on the check works as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.places import kinds_of, names_of, places_of
from trainferry.rehearse.tracing.rank import Rank

_ASKS = ("IsFinite", "IsInf", "IsNan", "CheckNumerics")


def on_rank(rank: Rank) -> Iterator[Finding]:
    for step in rank.train_steps:
        found = [one for one in step.on_device if one.kind in _ASKS]
        if found:
            yield Finding(
                "finite-check",
                Severity.RISK,
                f"a train step asks whether numbers are finite: {kinds_of(found)}",
                "use `NPULossScaleOptimizer`, which reads the device's overflow status",
                places_of(found),
                names_of(found),
            )
