"""Start all devices with the same weights.

Every process makes its own random weights. Before the first step those of rank 0 have to be sent
to the others, or each device trains another network and their mean is useless. Sessions and
Estimators with hooks get the adapter's hook, which does nothing on one device.

    -with tf.train.MonitoredTrainingSession(config=config) as session:
    +with tf.train.MonitoredTrainingSession(config=config,
    +        hooks=[NPUBroadcastGlobalVariablesHook(0)]) as session:

By hand: a plain `session.run` of the initialisers and `slim.learning.train`, with the text to add.
Not touched: projects that are not made data-parallel, `NPUEstimator`, which does it by itself,
and files that send variables already.

Source: TF Adapter 1.15, npu_bridge/estimator/npu/npu_hook.py; Ascend TF Adapter 1.x migration
guide, distributed training with `sess.run`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File, ProjectFiles
from trainferry.migrate.find import Call
from trainferry.migrate.phases import Phase, phase_of
from trainferry.migrate.rule import Concern, Finding, Outcome, on_call, on_file
from trainferry.migrate.rules._distributed import (
    broadcast_text,
    imports_of,
    is_made_parallel,
    makes_train_step,
    put_first,
    uses_horovod,
    wants_horovod,
)
from trainferry.migrate.rules._host_sessions import is_in_test
from trainferry.migrate.rules._imported import imported_files
from trainferry.migrate.rules._npu import npu_name
from trainferry.migrate.rules._sessions import session_calls

CONCERN = Concern.DISTRIBUTED

_HOOK = "NPUBroadcastGlobalVariablesHook"
_HOOKS_AT = {
    "tf.train.MonitoredTrainingSession": 4,
    "tf.train.SingularMonitoredSession": 0,
    "tf.train.MonitoredSession": 1,
    "tf.contrib.training.train": 5,
    "tf.estimator.TrainSpec": 2,
    "tf.estimator.Estimator.train": 1,
}
_SENDS = re.compile(rb"broadcast_(global_)?variables|BroadcastGlobalVariables|hccl_ops\.broadcast")
_ONLY_READ = (Phase.EVALUATE, Phase.PREDICT)
_OPERATION = broadcast_text("0", "tf.global_variables()", " if variable.dtype.is_floating")


@on_call(*_HOOKS_AT)
def initial_broadcast(call: Call, file: File) -> Iterator[Finding]:
    if not is_made_parallel(file.project) or _SENDS.search(file.source.data):
        return
    if is_in_test(file, call.node):
        return
    if call.name.startswith("tf.estimator.") and _sends_by_itself(file.project):
        return
    yield _sent(call)


def _sent(call: Call) -> Finding:
    """Put the adapter's hook before the user's."""
    if call.has_star_arguments:
        return Finding(call, Outcome.BY_HAND, f"add `{_HOOK}(0)` to the hooks")
    given = call.argument(_HOOKS_AT[call.name], "hooks")
    if given is None:
        edits: tuple[Edit, ...] = (call.add_keyword(f"hooks=[{_HOOK}(0)]"),)
    else:
        edits = put_first(call, given, f"{_HOOK}(0)")
    message = "rank 0 sends its variables to all devices before the first step"
    return Finding(call, Outcome.CHANGED, message, edits, imports_of(_HOOK))


@on_file
def initialised_by_hand(file: File) -> Iterator[Finding]:
    if not _is_parallel(file.project) or not _trains(file):
        return
    if any(_SENDS.search(one.source.data) for one in file.project.files):
        return
    if any(file.calls_of(*_HOOKS_AT)):  # such a session runs the initialisers itself
        return
    for call in file.calls_of("tf.global_variables_initializer", "tf.initialize_all_variables"):
        if is_in_test(file, call.node) or phase_of(file, call.node) in _ONLY_READ:
            continue
        message = (
            "after the initialisers have run, and before the first step, run "
            f"`{_OPERATION}`, made before the graph is final, so that all devices start alike"
        )
        yield Finding(call, Outcome.BY_HAND, message)
        break


@on_call("tf.contrib.slim.learning.train", "tf_slim.learning.train")
def trained_by_slim(call: Call, file: File) -> Iterator[Finding]:
    if is_made_parallel(file.project) and not _SENDS.search(file.source.data):
        message = (
            f"make `send = {_OPERATION}` before this call, and run it in `init_fn`, so that all "
            "devices start alike"
        )
        yield Finding(call, Outcome.BY_HAND, message)


def _trains(file: File) -> bool:
    """Whether a file makes a train step, or opens a session beside a file that makes one."""
    if file.once(makes_train_step):
        return True
    opens = any(True for _ in session_calls(file))
    return opens and any(other.once(makes_train_step) for other in imported_files(file))


def _is_parallel(project: ProjectFiles) -> bool:
    has_horovod = wants_horovod(project.options) and uses_horovod(project)
    return is_made_parallel(project) or has_horovod


def _sends_by_itself(project: ProjectFiles) -> bool:
    return "npu_estimator" in project.options.also | project.options.only or any(
        npu_name(name) == "NPUEstimator" for name in project.used
    )
