"""Know the switch for loops and branches with changing shapes.

TensorFlow 1 builds `tf.while_loop`, `tf.cond` and `tf.case` from small switches. With shapes
that change, or with many branches, the NPU's compiler needs them as whole functions. Two lines
behind the import of TensorFlow in the program that is started do that for the whole process.

     import tensorflow as tf
    +tf.enable_control_flow_v2()
    +tf.enable_resource_variables()

By hand: always, and only where a loop or branch does not compile; told once per project.

Source: Ascend TF Adapter 1.x migration guide, control flow.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.migrate.file import File, ProjectFiles
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_call, on_project
from trainferry.migrate.rules._device_code import is_on_device

CONCERN = Concern.TIDY

_FLOW = ("tf.while_loop", "tf.cond", "tf.case")
_LINES = "`tf.enable_control_flow_v2()` and `tf.enable_resource_variables()`"


@on_project
def switch(project: ProjectFiles) -> Iterator[Finding]:
    if any(True for file in project.files for _ in file.calls_of("tf.enable_control_flow_v2")):
        return
    found = [
        (file, call.node)
        for file in project.files
        for call in file.calls_of(*_FLOW)
        if is_on_device(file, call.node)
    ]
    if not found:
        return
    file, node = found[0]
    others = f" (the first of {len(found)} in the project)" if len(found) > 1 else ""
    yield Finding(
        Spot(file.source, node),
        Outcome.BY_HAND,
        f"if a loop or branch with changing shapes does not compile{others}, put {_LINES} behind "
        "the import of TensorFlow in the program that is started",
    )


@on_call("tf.disable_control_flow_v2")
def disabled(call: Call, _file: File) -> Iterator[Finding]:
    yield Finding(
        call,
        Outcome.BY_HAND,
        f"take it away if a loop or branch with changing shapes does not compile; {_LINES} help",
    )
