"""Build LARS on the operator of the NPU.

`tf.contrib.opt.LARSOptimizer` runs as it is, but computes its norms and rates with many small
operators per weight. `npu_ops.LARSV2` does it with one.

     grad = npu_ops.LARSV2(weight, grad, weight_decay, learning_rate)

By hand: always. Write an optimizer that passes each gradient through the operator and applies
the result with `tf.train.MomentumOptimizer`.

Source: TF Adapter 1.15, npu_bridge/estimator/npu_ops.py, `LARSV2`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, on_call

CONCERN = Concern.SPEED


@on_call("tf.contrib.opt.LARSOptimizer")
def lars(call: Call, file: File) -> Iterator[Finding]:
    decay = call.argument(2, "weight_decay")
    eeta = call.argument(3, "eeta")
    epsilon = call.argument(4, "epsilon")
    arguments = [
        "weight",
        "grad",
        "0.0001" if decay is None else file.text(decay),
        "learning_rate",
        f"hyperpara={'0.001' if eeta is None else file.text(eeta)}",
        f"epsilon={'0.0' if epsilon is None else file.text(epsilon)}",
    ]
    yield Finding(
        call,
        Outcome.BY_HAND,
        f"runs as it is; faster with `npu_ops.LARSV2({', '.join(arguments)})` for each gradient "
        "before a plain momentum step",
    )
