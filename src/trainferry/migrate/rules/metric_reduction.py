"""Tell that scores have to be averaged over the devices.

Where the data of evaluation is sharded, each rank evaluates its own share. A score that one rank
prints or writes is that of its share, unless the values of all ranks are brought together first.

    -accuracy = tf.reduce_mean(hits)
    +accuracy = npu_allreduce(tf.reduce_mean(hits))

By hand: always; told once per project, where the first score is made.
Not touched: projects that are not distributed, or that already reduce something.

Source: Ascend TF Adapter 1.x migration guide, distributed training; TF Adapter 1.15,
npu_bridge/estimator/npu/npu_optimizer.py, `npu_allreduce`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.migrate.file import ProjectFiles
from trainferry.migrate.rule import Concern, Finding, Outcome, on_project
from trainferry.migrate.rules._distributed import is_made_parallel, uses_horovod, wants_horovod

CONCERN = Concern.DISTRIBUTED


@on_project
def metric_reduction(project: ProjectFiles) -> Iterator[Finding]:
    with_horovod = wants_horovod(project.options) and uses_horovod(project)
    if not (with_horovod or is_made_parallel(project)):
        return
    if any(b"allreduce" in file.source.data for file in project.files):
        return
    for file in project.files:
        for call in file.calls:
            if call.name.startswith("tf.metrics."):
                message = (
                    "where evaluation is sharded, each rank scores its own share: average the "
                    "scores with `npu_allreduce(value)`, or let every rank evaluate all of the data"
                )
                yield Finding(call, Outcome.BY_HAND, message)
                return
