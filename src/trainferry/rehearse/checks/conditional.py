"""A train step chooses with `tf.cond` of the older kind.

`tf.cond` and `tf.case` become `Switch` and `Merge`. The device has them; many branches, or
branches whose results differ in shape, are not supported.

Call `tf.enable_control_flow_v2()` after the import of TensorFlow, or choose in Python where the
condition is known when the graph is built, such as the phase of training.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.places import is_gradient, names_of, places_of
from trainferry.rehearse.tracing.rank import Rank

# An Estimator reads the number of its step so.
_OF_TENSORFLOW = "global_step/"


def on_rank(rank: Rank) -> Iterator[Finding]:
    for step in rank.train_steps:
        inside = step.inside_loops
        merges = [
            one
            for one in step.on_device
            if one.kind in ("Merge", "RefMerge")
            and one.name not in inside
            and not is_gradient(one)
            and not one.name.startswith(_OF_TENSORFLOW)
        ]
        if not merges:
            continue
        uneven = [one for one in merges if one.name in step.still_open]
        yield Finding(
            "conditional",
            Severity.RISK if uneven else Severity.NOTE,
            "a train step chooses with `tf.cond` of the older kind"
            + (", and the shape of the result is open" if uneven else ""),
            "enable control flow v2, or choose in Python",
            places_of(uneven or merges),
            names_of(uneven or merges),
        )
