"""Collective communication is started and never ended.

`npu_ops.initialize_system()` and `init_resource()` take the device and its links to the other
devices. Without `shutdown_system()` or `shutdown_resource()` the process can hang at its end, and
the other ranks with it.

Run `npu_ops.shutdown_system()` in the session that ran `initialize_system()`, or call
`shutdown_resource(sess, session)`; in `finally`, so that it runs after an error too. Code after
`tf.app.run()` is never reached.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.rank import Rank


def on_rank(rank: Rank) -> Iterator[Finding]:
    if rank.facts.end is None or rank.facts.end.reason != "script":
        return
    if rank.facts.inits and not rank.facts.shutdowns:
        yield Finding(
            "missing-shutdown",
            Severity.RISK,
            "collective communication is started and never ended",
            "run `npu_ops.shutdown_system()`, or call `shutdown_resource`, in `finally`",
            tuple(dict.fromkeys(place for place in rank.facts.inits if place)),
        )
