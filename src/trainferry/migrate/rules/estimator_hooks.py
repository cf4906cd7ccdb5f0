"""Check hooks that see something else on an NPU.

A hook that looks for NaN in the loss has no effect on an NPU: a run that diverges goes on.
TensorFlow's profiler sees the host only. Hooks that save by time stop the devices of one run at
different steps. And the adapter puts a hook of its own behind yours, so that `hooks[-1]` is
another one than you put there, unless the list is one that the file itself fills.

    -hooks = [tf.train.ProfilerHook(save_steps=100)]
    +config = NPURunConfig(profiling_config=ProfilingConfig(enable_profiling=True, ...))

By hand: always.

Source: Ascend TF Adapter 1.x migration guide, hooks and frequently asked questions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_call, on_file
from trainferry.migrate.rules._configs import assigned_values
from trainferry.migrate.rules._estimators import is_parallel
from trainferry.migrate.rules._host_sessions import is_in_test
from trainferry.migrate.rules._npu import npu_name

CONCERN = Concern.TIDY


@on_call(
    "tf.train.NanTensorHook",
    "tf.estimator.NanTensorHook",
    "tf.keras.callbacks.TerminateOnNaN",
    "keras.callbacks.TerminateOnNaN",
)
def stops_at_nan(call: Call, file: File) -> Iterator[Finding]:
    if not is_in_test(file, call.node):
        name = call.name.rpartition(".")[2]
        message = f"`{name}` has no effect on an NPU: watch the loss, or use a dynamic loss scale"
        yield Finding(call, Outcome.BY_HAND, message)


@on_call("tf.train.ProfilerHook", "tf.estimator.ProfilerHook")
def profiles(call: Call, file: File) -> Iterator[Finding]:
    if not is_in_test(file, call.node):
        message = (
            "`ProfilerHook` sees the host only: for the NPU set `profiling_mode` and "
            "`profiling_options` of the session"
        )
        yield Finding(call, Outcome.BY_HAND, message)


@on_call("tf.train.CheckpointSaverHook", "tf.estimator.CheckpointSaverHook")
def saves_by_time(call: Call, file: File) -> Iterator[Finding]:
    seconds = call.argument(1, "save_secs")
    is_none = isinstance(seconds, ast.Constant) and seconds.value is None
    if seconds is not None and not is_none and is_parallel(file.project):
        message = "several devices cannot save by time: give `save_steps`"
        at = Spot(file.source, seconds)
        yield Finding(at, Outcome.BY_HAND, message, concern=Concern.DISTRIBUTED)


@on_file
def last_hook(file: File) -> Iterator[Finding]:
    if b"hooks[-1]" not in file.source.data or not is_parallel(file.project):
        return
    for node in ast.walk(file.source.tree):
        if isinstance(node, ast.Subscript) and file.text(node).endswith("hooks[-1]"):
            if _is_own(file, node.value):
                continue
            message = "keep your hook in a variable: the adapter's own may be the last of the list"
            at = Spot(file.source, node)
            yield Finding(at, Outcome.BY_HAND, message, concern=Concern.DISTRIBUTED)


def _is_own(file: File, hooks: ast.expr) -> bool:
    """Whether a list is filled here, and the adapter is not asked to put its hook in."""
    if any(npu_name(name) == "npu_hooks_append" for name in file.project.used):
        return False
    text = file.text(hooks)
    is_made = any(isinstance(one, ast.List) for one in assigned_values(file, hooks))
    return is_made or any(
        isinstance(call.func, ast.Attribute) and file.text(call.func.value) == text
        for call in file.names.attribute_calls(file.source, "append")
    )
