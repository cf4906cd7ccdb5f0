"""A train step asks whether numbers are finite.

First-generation cards do not make Inf or NaN: a number that is too large stays the largest one
there is. `tf.is_finite`, `tf.is_nan` and `tf.check_numerics` then find nothing, and a loss scale
that is lowered only at Inf never is.

`tf.clip_by_global_norm` asks too, to answer NaN when the norm is not finite. That is a note:
gradients that were too large are clipped like others instead.

Use `NPULossScaleOptimizer` with a manager of the NPU, which read the device's own overflow
status. On newer chips with Inf and NaN turned on the check works as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.places import kinds_of, names_of, places_of
from trainferry.rehearse.tracing.rank import Rank

_ASKS = ("IsFinite", "IsInf", "IsNan", "CheckNumerics")
_CLIPS = "clip_by_global_norm"
_SUMS = "ReduceLogSumExp"  # takes the largest number away first, if that is finite


def on_rank(rank: Rank) -> Iterator[Finding]:
    for step in rank.train_steps:
        found = [one for one in step.on_device if one.kind in _ASKS and _SUMS not in one.name]
        clipping = [one for one in found if _CLIPS in one.name]
        asking = [one for one in found if one not in clipping]
        if asking:
            yield Finding(
                "finite-check",
                Severity.RISK,
                f"a train step asks whether numbers are finite: {kinds_of(asking)}",
                "use `NPULossScaleOptimizer`, which reads the device's overflow status",
                places_of(asking),
                names_of(asking),
            )
        if clipping:
            yield Finding(
                "finite-check",
                Severity.NOTE,
                "`tf.clip_by_global_norm` makes no NaN of a norm that is too large",
                "look at the norm if the script waits for NaN; else there is nothing to do",
                places_of(clipping),
                names_of(clipping),
            )
