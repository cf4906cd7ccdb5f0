"""Turn off other ways to mixed precision.

On the NPU the adapter's `precision_mode` chooses the formats. TensorFlow's own ways are for GPUs:
the environment variables `TF_ENABLE_AUTO_MIXED_PRECISION...` switch on a rewrite of the
graph that would put its casts beside the NPU's, and the policies and loss scales of
`tf.keras.mixed_precision.experimental` do not work after a migration. A program has one of them.

    -os.environ["TF_ENABLE_AUTO_MIXED_PRECISION"] = "1"

By hand: always; what takes their place is a `precision_mode` and an `NPULossScaleOptimizer`.

Source: Ascend TF Adapter 1.x migration guide, mixed precision training.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_call, on_file, on_name

CONCERN = Concern.PRECISION

_VARIABLES = (
    "TF_ENABLE_AUTO_MIXED_PRECISION",
    "TF_ENABLE_AUTO_MIXED_PRECISION_GRAPH_REWRITE",
    "TF_ENABLE_AUTO_MIXED_PRECISION_LOSS_SCALING",
)
_OFF = ("0", "false", "False", "")
_REMOVE = "take it out: on the NPU `precision_mode` chooses mixed precision, and only one may"


@on_file
def set_in_environment(file: File) -> Iterator[Finding]:
    for statement in file.stores:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        if isinstance(target, ast.Subscript) and _is_variable(target.slice):
            value = statement.value
            if not (isinstance(value, ast.Constant) and value.value in _OFF):
                yield Finding(Spot(file.source, statement), Outcome.BY_HAND, _REMOVE)


@on_call("os.putenv", "os.environ.setdefault", "os.environ.update")
def put_in_environment(call: Call, _file: File) -> Iterator[Finding]:
    if any(_is_variable(node) for argument in call.node.args for node in ast.walk(argument)):
        yield Finding(call, Outcome.BY_HAND, _REMOVE)


@on_name("tf.keras.mixed_precision.experimental.*", "keras.mixed_precision.experimental.*")
def keras_policy(spot: Spot, name: str, _file: File) -> Iterator[Finding]:
    if name.endswith("LossScaleOptimizer"):
        instead = "scale the loss of a `tf.train` optimizer with `NPULossScaleOptimizer`"
    else:
        instead = "choose mixed precision with `precision_mode`"
    message = f"Keras' own mixed precision does not work on the NPU; {instead}"
    yield Finding(spot, Outcome.BY_HAND, message, concern=Concern.RUN)


def _is_variable(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value in _VARIABLES
