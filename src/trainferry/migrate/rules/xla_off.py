"""Turn XLA off.

XLA compiles for CPUs and GPUs; the NPU has a compiler of its own. Levels, scopes and settings
that turn XLA on turn it off; flags for it in the environment go.

    -config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1
    +config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.OFF

By hand: functions compiled with `xla.compile`, whose outputs must be asked for directly, and
arguments that cannot be seen.

Source: TF Adapter 1.15, npu_bridge/npu_init.py, `npu_optimizer_options`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_call, on_file, on_name
from trainferry.migrate.rules._forced import forced
from trainferry.migrate.rules._gpu import environment, reads_environment
from trainferry.migrate.statements import remove_statement

CONCERN = Concern.RUN
LINT = True

_OPTIONS = ("tf.OptimizerOptions", "tensorflow.core.protobuf.config_pb2.OptimizerOptions")
_LEVELS = tuple(f"{home}.{level}" for home in _OPTIONS for level in ("ON_1", "ON_2"))


@on_name(*_LEVELS)
def level_off(spot: Spot, name: str, file: File) -> Iterator[Finding]:
    node = spot.node
    if isinstance(file.parent(node), ast.Compare):
        return
    level = name.rpartition(".")[2]
    if isinstance(node, ast.Attribute) and node.attr == level:
        end = file.source.span(node)[1]
        edit = Edit(end - len(level), end, "OFF")
        yield Finding(spot, Outcome.CHANGED, "XLA does not compile for the NPU", (edit,))
    else:
        message = "write `tf.OptimizerOptions.OFF`: XLA does not compile for the NPU"
        yield Finding(spot, Outcome.BY_HAND, message)


@on_call("tf.config.optimizer.set_jit")
def setting_off(call: Call, file: File) -> Iterator[Finding]:
    by_hand = "pass `False`: XLA does not compile for the NPU"
    message = "XLA does not compile for the NPU"
    yield from forced(call, file, (0, "enabled", "False"), message, by_hand)


@on_call(
    "tf.xla.experimental.jit_scope",
    "tf.contrib.compiler.jit.experimental_jit_scope",
    "tensorflow.python.compiler.xla.jit.experimental_jit_scope",
)
def scope_off(call: Call, file: File) -> Iterator[Finding]:
    by_hand = "pass `compile_ops=False`: XLA does not compile for the NPU"
    message = "XLA does not compile for the NPU; the scope stays and compiles nothing"
    yield from forced(call, file, (0, "compile_ops", "False"), message, by_hand)


@on_name(
    "tf.xla.experimental.compile",
    "tf.contrib.compiler.xla.compile",
    "tf.contrib.compiler.xla.estimator_model_fn",
    "tensorflow.python.compiler.xla.xla.compile",
)
def compile_by_hand(spot: Spot, name: str, file: File) -> Iterator[Finding]:
    above = file.parent(spot.node)
    if name.endswith("estimator_model_fn"):
        message = "remove `estimator_model_fn`: XLA does not compile for the NPU"
    elif isinstance(above, ast.Call) and above.func is spot.node and len(above.args) == 2:
        function, inputs = (file.text(one) for one in above.args)
        message = f"write `{function}(*{inputs})`: XLA does not compile for the NPU"
    else:
        message = "call the function itself: XLA does not compile for the NPU"
    yield Finding(spot, Outcome.BY_HAND, message)


@on_file
def flags_off(file: File) -> Iterator[Finding]:
    for variable in environment(file):
        if variable.name not in ("TF_XLA_FLAGS", "XLA_FLAGS"):
            continue
        spot = Spot(file.source, variable.node)
        edit = None
        if variable.statement is not None and not reads_environment(file, variable.name):
            edit = remove_statement(file, variable.statement)
        if edit is None:
            message = f"do not set `{variable.name}`: XLA does not compile for the NPU"
            yield Finding(spot, Outcome.BY_HAND, message)
        else:
            yield Finding(spot, Outcome.CHANGED, "XLA does not compile for the NPU", (edit,))
