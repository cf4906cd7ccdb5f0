"""Gradients are not exchanged between the ranks.

Several ranks train, and the train step holds no collective: each rank trains a network of its
own on its own data.

Wrap the optimizer: `npu_distributed_optimizer_wrapper(opt)`, `NPUDistributedOptimizer(opt)`, for
Keras `npu_keras_optimizer(opt)`; or reduce what `tf.gradients` gives with `npu_allreduce`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainferry.rehearse.finding import Finding, Severity
from trainferry.rehearse.tracing.rank import Rank

_REDUCES = ("HcomAllReduce", "HcomReduce", "HcomReduceScatter", "HcomAllGather")


def on_ranks(ranks: Sequence[Rank]) -> Iterator[Finding]:
    for rank in ranks:
        for step in rank.train_steps:
            if not any(one.stand_in in _REDUCES for one in step.graph.operators):
                yield Finding(
                    "no-allreduce",
                    Severity.REFUSED,
                    "a train step of several ranks does not exchange its gradients",
                    "wrap the optimizer with `npu_distributed_optimizer_wrapper`, or reduce what"
                    " `tf.gradients` gives with `npu_allreduce`",
                    step.places,
                    ranks=(rank.number,),
                )
