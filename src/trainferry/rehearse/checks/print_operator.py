"""A train step prints.

What `tf.print` and `tf.Print` print on the device waits in a channel called `_npu_log` until the
host takes it from there. An Estimator of the NPU does; with `session.run` nothing is printed,
and the channel fills.

Leave it out, fetch the tensor and print it in Python, or take the texts with
`npu_ops.outfeed_dequeue_op("_npu_log", ...)` in a thread.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.places import names_of, places_of
from trainferry.rehearse.tracing.rank import Rank


def on_rank(rank: Rank) -> Iterator[Finding]:
    for step in rank.train_steps:
        found = [one for one in step.on_device if one.kind in ("Print", "PrintV2")]
        if found:
            yield Finding(
                "print-operator",
                Severity.RISK,
                "a train step prints, and nobody takes the texts from the device",
                "fetch the tensor and print it in Python",
                places_of(found),
                names_of(found),
            )
