"""Ranks train different weights.

All ranks must begin with the same weights, and every step must keep them the same. An Estimator
of the NPU sends the weights of rank 0 to all at the start; with `session.run` the script has to,
and each rank otherwise trains a network of its own. Weights that are equal at first and differ
later were updated by gradients that were not reduced over the ranks.

    session.run(hccl_ops.broadcast(tf.trainable_variables(), 0))

or `NPUBroadcastGlobalVariablesHook(0, rank)`, or for Keras
`NPUBroadcastGlobalVariablesCallback(0)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.rank import Rank

_SHOWN = 4


def on_ranks(ranks: Sequence[Rank]) -> Iterator[Finding]:
    told = [rank.facts.weights for rank in ranks]
    for step in sorted(set.intersection(*map(set, told))):
        checksums = [weights[step] for weights in told]
        common = set.intersection(*map(set, checksums))
        differ = sorted(name for name in common if len({one[name] for one in checksums}) > 1)
        if differ:
            shown = ", ".join(f"`{name}`" for name in differ[:_SHOWN])
            more = f" and {len(differ) - _SHOWN} more" if len(differ) > _SHOWN else ""
            yield Finding(
                "weights-differ",
                Severity.REFUSED,
                f"after step {step}, {len(differ)} of {len(common)} weights differ between the"
                f" ranks: {shown}{more}",
                "broadcast the weights of rank 0 before the first step",
                tuple(dict.fromkeys(place for one in ranks[0].train_steps for place in one.places)),
                tuple(differ),
                tuple(rank.number for rank in ranks),
            )
            return
