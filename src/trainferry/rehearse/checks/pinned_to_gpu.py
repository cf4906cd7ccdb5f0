"""Operators are pinned to a GPU.

`with tf.device("/gpu:0")` asks for a device that is not there. With `allow_soft_placement` the
wish is passed over; without it the session refuses the graph. A loop over GPUs builds one copy
of the network per GPU, and all of them end up on one NPU.

Remove `tf.device`; run one process per NPU, each with one copy of the network.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.places import names_of, number_of, places_of
from trainferry.rehearse.tracing.rank import Rank


def on_rank(rank: Rank) -> Iterator[Finding]:
    for step in rank.train_steps:
        found = [one for one in step.on_device if "GPU" in one.device.upper()]
        if not found:
            continue
        soft = step.session is None or step.session.config.get("allow_soft_placement")
        shown = ", ".join(f"`{device}`" for device in sorted({one.device for one in found})[:4])
        yield Finding(
            "pinned-to-gpu",
            Severity.RISK if soft else Severity.REFUSED,
            f"{number_of(found)} of a train step are pinned to {shown}",
            "remove `tf.device`; one process trains on one NPU",
            places_of(found),
            names_of(found),
        )
