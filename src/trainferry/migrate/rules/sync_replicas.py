"""Replace synchronous parameter servers.

`tf.train.SyncReplicasOptimizer` collects gradients in accumulators on parameter servers. Those
accumulators run on the host only. On NPUs each device has a process of its own, and the
processes add up their gradients directly.

    -opt = tf.train.SyncReplicasOptimizer(opt, replicas_to_aggregate=4)
    +opt = npu_distributed_optimizer_wrapper(opt)

By hand: always, because the hooks and queues around the optimizer have to go too.

Source: Ascend TF Adapter 1.x migration guide, distributed training and mixed computing.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, on_call

CONCERN = Concern.DISTRIBUTED


@on_call("tf.train.SyncReplicasOptimizer")
def sync_replicas(call: Call, file: File) -> Iterator[Finding]:
    if file.options.distributed == "none":
        return
    inner = call.argument(0, "opt")
    wrapped = "opt" if inner is None else file.text(inner)
    if len(wrapped) > 40:
        wrapped = "opt"
    yield Finding(
        call,
        Outcome.BY_HAND,
        f"train one process per device with `npu_distributed_optimizer_wrapper({wrapped})` and "
        "take away its hooks and queues; to keep parameter servers, set `mix_compile_mode`",
    )
