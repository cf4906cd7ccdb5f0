"""Restart collective communication between training and evaluation.

An Estimator closes the session of collective communication when training ends. A program that
trains and evaluates in turns, in one process and on several devices, has to end communication
after each phase and start it again before the next; otherwise rank numbers and all-reduced
scores fail after the first training.

     estimator.train(input_fn)
    +shutdown_resource(npu_session, npu_shutdown)
    +close_session(npu_session)
    +npu_session, npu_shutdown = init_resource()
     estimator.evaluate(eval_input_fn)

By hand: always, because only you know what has to run between the phases.

Source: Ascend TF Adapter 1.x migration guide, distributed training with an Estimator.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, on_call, on_file
from trainferry.migrate.rules._estimators import is_parallel
from trainferry.migrate.rules._host_sessions import is_in_test

CONCERN = Concern.DISTRIBUTED
_RESTART = (
    "call `shutdown_resource(npu_session, npu_shutdown)`, `close_session(npu_session)` and "
    "`npu_session, npu_shutdown = init_resource()` between the phases"
)


@on_call("tf.estimator.train_and_evaluate")
def train_and_evaluate(call: Call, file: File) -> Iterator[Finding]:
    if is_parallel(file.project) and not is_in_test(file, call.node):
        message = (
            "training closes the session of collective communication: where evaluation uses it, "
            f"train and evaluate by two calls instead, and {_RESTART}"
        )
        yield Finding(call, Outcome.BY_HAND, message)


@on_file
def in_turns(file: File) -> Iterator[Finding]:
    if b".evaluate(" not in file.source.data or not is_parallel(file.project):
        return
    told: set[ast.AST] = set()
    for call in file.method_calls("train"):
        loop = _loop_around(call.node, file)
        if call.name != "tf.estimator.Estimator.train" or loop is None or loop in told:
            continue
        if _evaluates(loop, file):
            told.add(loop)
            message = f"training closes the session of collective communication: {_RESTART}"
            yield Finding(call, Outcome.BY_HAND, message)


def _loop_around(node: ast.AST, file: File) -> ast.AST | None:
    for above in file.parents(node):
        if isinstance(above, ast.For | ast.While):
            return above
        if isinstance(above, ast.FunctionDef):
            break
    return None


def _evaluates(loop: ast.AST, file: File) -> bool:
    return any(
        call.name == "tf.estimator.Estimator.evaluate" and loop in file.parents(call.node)
        for call in file.method_calls("evaluate")
    )
