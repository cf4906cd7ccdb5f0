"""Tell where gradients are applied without being averaged over all devices.

A wrapped optimizer averages the gradients that it computes itself. Those of `tf.gradients` pass it
by: every device would then train a network of its own. Whether they are applied, or are only part
of a loss, is seen from `apply_gradients` in the same function.

    -gradients = tf.gradients(loss, variables)
    +gradients = npu_allreduce(tf.gradients(loss, variables))

By hand: all of it, since a penalty on gradients must not be reduced, and None among the gradients
has to be taken out first.
Not touched: projects that are not made data-parallel; functions without `apply_gradients`.

Source: TF Adapter 1.15, npu_bridge/estimator/npu/npu_optimizer.py, `npu_allreduce`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, on_call
from trainferry.migrate.rules._distributed import is_made_parallel
from trainferry.migrate.rules._npu import npu_name, scope_of

CONCERN = Concern.DISTRIBUTED


@on_call("tf.gradients")
def gradients_reduced(call: Call, file: File) -> Iterator[Finding]:
    if not is_made_parallel(file.project) or not _applies(scope_of(file, call.node)):
        return
    if any(
        isinstance(above, ast.Call) and npu_name(file.full_name(above.func)) == "npu_allreduce"
        for above in file.parents(call.node)
    ):
        return
    message = (
        "if these gradients are applied, write `npu_allreduce(tf.gradients(...))`, without None "
        "among them: a wrapped optimizer reduces only what it computes itself"
    )
    yield Finding(call, Outcome.BY_HAND, message)


def _applies(scope: ast.AST) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr == "apply_gradients"
        for node in ast.walk(scope)
    )
