"""Tell how learning rate, steps and batch change with the number of devices.

A program for one device that runs on many sees a batch that is as many times larger. What worked
on one device then needs a larger learning rate, fewer steps, and a batch size that is meant per
device.

    -rate = 0.1
    +rate = 0.1 * get_npu_rank_size()
    -steps = 100000
    +steps = 100000 // get_npu_rank_size()

By hand: always; told once per project, at its first optimizer.
Not touched: programs that ask for the number of devices already, and those with Horovod or a
strategy, which have run on several devices and keep their own formulas.

Source: Ascend TF Adapter 1.x migration guide, accuracy tuning, hyper-parameters.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.migrate.file import ProjectFiles
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_project
from trainferry.migrate.rules._distributed import is_made_parallel, uses_strategy
from trainferry.migrate.rules._host_sessions import is_in_test
from trainferry.migrate.rules._npu import npu_name
from trainferry.migrate.rules.optimizer_wrapped_once import OPTIMIZERS

CONCERN = Concern.DISTRIBUTED

_COUNTS = frozenset(("get_npu_rank_size", "get_rank_size"))


@on_project
def learning_rate_for_ranks(project: ProjectFiles) -> Iterator[Finding]:
    if not is_made_parallel(project) or uses_strategy(project):
        return
    if any(npu_name(name) in _COUNTS for name in project.used):
        return
    for file in project.files:
        uses = (node for node, name in file.uses if name in OPTIMIZERS)
        first = next((node for node in uses if not is_in_test(file, node)), None)
        if first is None:
            continue
        message = (
            "with N devices the batch is N times that of one: multiply the learning rate by "
            "`get_npu_rank_size()`, divide the steps by it, and give each device its own samples"
        )
        yield Finding(Spot(file.source, first), Outcome.BY_HAND, message)
        return
