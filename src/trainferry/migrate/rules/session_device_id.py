"""Give each session of a process its own NPU.

A process uses one NPU, the one of `ASCEND_DEVICE_ID`, whatever `visible_device_list` says. Where
one process opens sessions on several GPUs, each configuration needs `session_device_id`, or each
session a process of its own.

     config = tf.ConfigProto(gpu_options=tf.GPUOptions(visible_device_list="1"))
    +optimizer = config.graph_options.rewrite_options.custom_optimizers.add()
    +optimizer.name = "NpuOptimizer"
    +optimizer.parameter_map["session_device_id"].i = 1

By hand: always. Told where a file names different GPUs, or counts them up in a loop.

Source: TF Adapter 1.15, parameter `session_device_id`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_file
from trainferry.migrate.rules._gpu import visible_device_lists

CONCERN = Concern.RUN


@on_file
def choose_devices(file: File) -> Iterator[Finding]:
    lists = [(place, value, _number(value)) for place, value in visible_device_lists(file)]
    numbers = {number for _, _, number in lists if number is not None}
    for place, value, number in lists:
        if (number is not None and len(numbers) > 1) or _counts_up(file, value):
            device = file.text(value) if number is None else number
            message = (
                "an NPU is chosen for a session with "
                f'`parameter_map["session_device_id"].i`, here {device}, in its `NpuOptimizer`; '
                "or start one process for each device"
            )
            yield Finding(Spot(file.source, place), Outcome.BY_HAND, message)


def _number(value: ast.expr) -> str | None:
    if isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value.isdigit():
        return value.value
    return None


def _counts_up(file: File, value: ast.expr) -> bool:
    """Whether the value has the variable of a loop around it: `str(i)` in `for i in range(n)`."""
    loops = [one for one in file.parents(value) if isinstance(one, ast.For)]
    counted = {ast.unparse(loop.target) for loop in loops}
    return any(isinstance(one, ast.Name) and one.id in counted for one in ast.walk(value))
