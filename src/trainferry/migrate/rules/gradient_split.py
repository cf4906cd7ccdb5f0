"""Know how gradients are grouped on their way to the other devices.

Gradients are sent in groups while the backward pass still computes the rest. By default the
first group holds 96.54 % of their bytes and the second the rest. Where the profile shows that the
devices wait for each other after the backward pass, other groups can hide that time.

    +set_split_strategy_by_size([60, 20, 20])

The numbers are percents that add up to 100, for at most eight groups; `set_split_strategy_by_idx`
takes the index of each group's last gradient instead. Both are called before the first step, after
the collective start, and come from `hccl.split.api`.

By hand: always; told once per project, where gradients are first averaged over the devices.
Not told: projects for one device, and those that set the groups already.

Source: Ascend TF Adapter 1.x migration guide, distributed training, AllReduce splitting.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.migrate.file import ProjectFiles
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_project
from trainferry.migrate.rules._distributed import WRAPPER
from trainferry.migrate.rules._host_sessions import is_in_test
from trainferry.migrate.rules._npu import npu_name

CONCERN = Concern.SPEED
LINT = True

_AVERAGES = frozenset((WRAPPER, "NPUDistributedOptimizer", "npu_tf_optimizer"))
_MESSAGE = (
    "if devices wait for each other after the backward pass, send gradients in other groups: "
    "`set_split_strategy_by_size([60, 20, 20])` of `hccl.split.api`, before the first step"
)


@on_project
def gradient_split(project: ProjectFiles) -> Iterator[Finding]:
    if any(b"set_split_strategy" in file.source.data for file in project.files):
        return
    for file in project.files:
        for call in file.calls:
            if npu_name(call.name) in _AVERAGES and not is_in_test(file, call.node):
                yield Finding(Spot(file.source, call.node), Outcome.BY_HAND, _MESSAGE)
                return
