"""A train step has a loop of the older kind.

`tf.while_loop`, `tf.nn.dynamic_rnn`, `tf.map_fn` and `tf.scan` become many small operators
(`Enter`, `Switch`, `NextIteration`) that jump. The device has them, but shapes that change in a
loop are refused there, and a recurrent network is far slower than the device's own. The shapes
inside a loop are not followed by the rehearsal: take care of them yourself.

Call `tf.enable_control_flow_v2()` and `tf.enable_resource_variables()` after the import of
TensorFlow; for an LSTM use `npu_dynamic_rnn.DynamicRNN`, for a GRU `DynamicGRUV2`; a short loop
of known length is best written out in Python.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.places import names_of, places_of
from trainferry.rehearse.tracing.rank import Rank


def on_rank(rank: Rank) -> Iterator[Finding]:
    for step in rank.train_steps:
        loops = [one for one in step.main if one.kind == "LoopCond"]
        if loops:
            inside = len(step.inside_loops)
            number = "a loop" if len(loops) == 1 else f"{len(loops)} loops"
            yield Finding(
                "while-loop",
                Severity.RISK,
                f"a train step has {number} of the older kind, with {inside} operators inside;"
                " their shapes are not followed",
                "enable control flow v2, or use `DynamicRNN` for recurrent networks",
                places_of(loops),
                names_of(loops),
            )
