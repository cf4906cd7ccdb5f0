"""Check the run configuration of an Estimator.

A `RunConfig` stays as it is; what its Estimator needs from the adapter is added where it is used.
Some fields mean something else on NPUs: checkpoints cannot be saved by time on several devices,
because the devices would stop at different steps; a device function has no say in placement;
and an `NPURunConfig` whose two save intervals are both None saves every 100 steps, where a
`RunConfig` saves never. Summaries need no change: without a loop on the device they come back
as ever, so `save_summary_steps` is not set to 0 here.

    -NPURunConfig(save_checkpoints_steps=1000 if rank == 0 else None)
    +NPURunConfig(save_checkpoints_steps=1000 if rank == 0 else 0)

By hand: saving by time on several devices; `device_fn` and `protocol`, unless they are None.

Source: Ascend TF Adapter 1.x migration guide, Estimator; npu_bridge/estimator/npu/npu_config.py,
`NPURunConfig`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_call
from trainferry.migrate.rules._estimators import RUN_CONFIGS, is_parallel
from trainferry.migrate.rules._host_sessions import is_in_test
from trainferry.migrate.rules._npu_estimators import is_chosen

CONCERN = Concern.DISTRIBUTED
LINT = True
_BY_STEPS = "several devices cannot save by time: give `save_checkpoints_steps`"


@on_call(*RUN_CONFIGS)
def run_config_for_npu(call: Call, file: File) -> Iterator[Finding]:
    if is_in_test(file, call.node):
        return
    if not is_chosen(file):  # else these fields are left out
        yield from _placement(call, file)
    yield from _saving(call, file)


def _placement(call: Call, file: File) -> Iterator[Finding]:
    device_fn, protocol = call.keyword("device_fn"), call.keyword("protocol")
    if device_fn is not None and not _is_none(device_fn.value):
        message = "remove `device_fn`: it must not put operations on a GPU"
        yield Finding(Spot(file.source, device_fn), Outcome.BY_HAND, message, concern=Concern.RUN)
    if protocol is not None and not _is_none(protocol.value):
        message = "remove `protocol`: NPUs do not talk through TensorFlow's servers"
        yield Finding(Spot(file.source, protocol), Outcome.BY_HAND, message, concern=Concern.TIDY)


def _saving(call: Call, file: File) -> Iterator[Finding]:
    seconds = call.argument(4, "save_checkpoints_secs")
    if seconds is not None and not _is_none(seconds):
        if is_parallel(file.project):
            yield Finding(Spot(file.source, seconds), Outcome.BY_HAND, _BY_STEPS)
        return
    steps = call.argument(3, "save_checkpoints_steps")
    is_by_default = seconds is None and steps is None and not call.has_star_arguments
    if (
        is_by_default
        and not is_chosen(file)
        and is_parallel(file.project)
        and not _is_replaced(call, file)
    ):
        message = f"{_BY_STEPS}; without it a checkpoint is saved every 600 seconds"
        yield Finding(call, Outcome.BY_HAND, message)


def _is_replaced(call: Call, file: File) -> bool:
    """`RunConfig().replace(…)` may set it."""
    above = file.parent(call.node)
    return isinstance(above, ast.Attribute) and above.attr == "replace"


@on_call(
    "npu_bridge.npu_init.NPURunConfig",
    "npu_bridge.estimator.npu.npu_config.NPURunConfig",
)
def npu_run_config(call: Call, file: File) -> Iterator[Finding]:
    seconds, steps = call.keyword("save_checkpoints_secs"), call.keyword("save_checkpoints_steps")
    if steps is None or call.has_star_arguments:
        return
    if seconds is not None and not _is_none(seconds.value):
        return
    value = steps.value
    if isinstance(value, ast.IfExp) and _is_none(value.orelse):
        message = "with None for both intervals `NPURunConfig` saves every 100 steps; 0 is never"
        edit = Edit(*file.source.span(value.orelse), "0")
        yield Finding(Spot(file.source, steps), Outcome.CHECK, message, (edit,))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
