"""Count a step only when it is applied.

With a loss scale, a step whose gradients overflow is left out: `apply_gradients` is not called.
Optimizers that count the global step themselves, beside `apply_gradients` as BERT's does, count
such steps all the same, so that the learning rate falls and the training ends too early.

     def apply_gradients(self, grads_and_vars, global_step=None, name=None):
         ...
    +    assignments.append(global_step.assign_add(1))
         return tf.group(*assignments, name=name)

    -train_op = tf.group(train_op, [global_step.assign(global_step + 1)])

By hand: always. Not told: projects that do not scale the loss with an optimizer.

Source: Ascend TF Adapter 1.x migration guide, mixed precision training, updating the global step.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_file
from trainferry.migrate.rules._loss_scale import scales_loss
from trainferry.migrate.rules._npu import last_identifier

CONCERN = Concern.PRECISION
LINT = True

_FUNCTIONS = ("tf.assign", "tf.assign_add", "tf.state_ops.assign", "tf.state_ops.assign_add")
_MESSAGE = (
    "count the step in `apply_gradients` of the optimizer: here a step that is left out "
    "because of an overflow counts too"
)


@on_file
def global_step_in_apply(file: File) -> Iterator[Finding]:
    updates = [call for call in _updates(file) if not _is_in_apply(file, call)]
    if updates and scales_loss(file.project):
        for call in updates:
            yield Finding(Spot(file.source, call), Outcome.BY_HAND, _MESSAGE)


def _updates(file: File) -> Iterator[ast.Call]:
    """`global_step.assign(…)` and `tf.assign(global_step, …)`."""
    for call in file.calls_of(*_FUNCTIONS):
        variable = call.argument(0, "ref")
        if variable is not None and _is_global_step(variable):
            yield call.node
    for method in ("assign", "assign_add"):
        for node in file.unresolved_calls(method):
            if isinstance(node.func, ast.Attribute) and _is_global_step(node.func.value):
                yield node


def _is_global_step(node: ast.expr) -> bool:
    return last_identifier(node).strip("_") == "global_step"


def _is_in_apply(file: File, node: ast.AST) -> bool:
    function = file.function(node)
    return function is not None and "apply" in function.name
