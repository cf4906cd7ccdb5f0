"""A step that loops on the device is fed from Python.

With `iterations_per_loop` above 1 the device takes each batch by itself, from a dataset.
`feed_dict` gives one value for the whole loop: every step of it would see the same batch.

Read with `tf.data` and an initializable iterator, or set `iterations_per_loop` to 1.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.rank import Rank


def on_rank(rank: Rank) -> Iterator[Finding]:
    for step in rank.train_steps:
        steps = step.per_loop
        if steps > 1 and step.run.feeds:
            shown = ", ".join(f"`{name}`" for name in step.run.feeds[:3])
            yield Finding(
                "loop-with-feeds",
                Severity.REFUSED,
                f"{steps} steps run in one loop on the device, but {shown} is fed from Python",
                "read with `tf.data`, or set `iterations_per_loop` to 1",
                step.places,
                tuple(step.run.feeds),
            )
