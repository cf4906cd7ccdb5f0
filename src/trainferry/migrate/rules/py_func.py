"""Keep Python functions of the graph on the host.

`tf.py_func` and its like call Python from the graph, which an NPU cannot do. Beside the model
they need mixed computing: the session's `mix_compile_mode`, and the call outside of what is
compiled for the NPU. No variable may be made inside that scope, and loops on the device are
not possible with it.

     with npu_scope.without_npu_compile_scope():
         boxes = tf.py_func(suppress, [boxes, scores], tf.float32)

Operators of your own, from `tf.load_op_library`, are for the host or for GPUs, and need the same.

Not told: functions of the input pipeline, such as those given to `dataset.map`: they run on the
host anyway.

Source: Ascend TF Adapter 1.x migration guide, mixed computing; npu_scope.py of TF Adapter 1.15.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, on_call
from trainferry.migrate.rules._device_code import is_on_device, is_test
from trainferry.migrate.rules._mixed import is_kept_on_host

CONCERN = Concern.RUN
LINT = True


@on_call(
    "tf.py_func",
    "tf.py_function",
    "tf.numpy_function",
    "tf.contrib.eager.py_func",
    "tf.contrib.framework.py_func",
)
def py_func(call: Call, file: File) -> Iterator[Finding]:
    if is_on_device(file, call.node) and not is_kept_on_host(call.node, file):
        yield Finding(
            call,
            Outcome.BY_HAND,
            "runs on the host only: set `mix_compile_mode` to True for the session and put the "
            "call under `with npu_scope.without_npu_compile_scope():`, no variables inside",
        )


@on_call("tf.load_op_library", "tf.load_library")
def own_operators(call: Call, file: File) -> Iterator[Finding]:
    if not is_test(file):
        message = (
            "the NPU does not have these operators: where the model uses them, set "
            "`mix_compile_mode` to True for the session, which leaves them on the host"
        )
        yield Finding(call, Outcome.BY_HAND, message)
