"""XLA is on in a session for the NPU.

XLA compiles parts of the graph for CPU and GPU before the adapter sees them. The newest adapter
turns it off in every session, older ones do not, and none sees a `jit_scope`.

Set `config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.OFF`, and leave
`jit_scope`, `tf.xla.experimental.compile` and `TF_XLA_FLAGS` out.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.options import session_places
from trainferry.rehearse.tracing.places import names_of, number_of, places_of
from trainferry.rehearse.tracing.rank import Rank


def on_rank(rank: Rank) -> Iterator[Finding]:
    for places, config in session_places(rank):
        if config.get("npu_entries") and config.get("global_jit_level") in ("ON_1", "ON_2", 1, 2):
            yield Finding(
                "xla-on",
                Severity.REFUSED,
                "a session for the NPU has XLA on",
                "set `optimizer_options.global_jit_level` to OFF",
                places,
            )
    for step in rank.train_steps:
        marked = [one for one in step.on_device if one.attributes.get("_XlaCompile") is True]
        if marked:
            yield Finding(
                "xla-on",
                Severity.REFUSED,
                f"{number_of(marked)} of a train step are marked for XLA",
                "remove `jit_scope`, or give it `compile_ops=False`",
                places_of(marked),
                names_of(marked),
            )
