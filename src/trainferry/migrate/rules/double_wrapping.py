"""Take off the second of two wrappers of the adapter.

Migrating a migrated file again puts the adapter's functions around themselves: the same
configuration is filled twice, hooks are appended twice, and an optimizer that is wrapped twice
sums its gradients over all devices twice, which costs the time of a second allreduce.

    -opt = npu_distributed_optimizer_wrapper(npu_distributed_optimizer_wrapper(opt))
    +opt = npu_distributed_optimizer_wrapper(opt)

By hand: wrappers in two statements, such as `opt = wrapper(opt)` twice in a row.

Source: TF Adapter 1.15, npu_bridge/npu_init.py; npu_bridge/estimator/npu/npu_optimizer.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Concern, Finding, Outcome, on_call
from trainferry.migrate.rules._npu import called, exclude_each_other, npu_name, scope_of

CONCERN = Concern.SPEED
LINT = True

# Those in one row do the same.
_SAME = {
    "npu_config_proto": "configuration",
    "npu_run_config_init": "run configuration",
    "npu_hooks_append": "hooks",
    "npu_callbacks_append": "callbacks",
    "npu_graph_options": "graph options",
    "npu_optimizer_options": "optimizer options",
    "npu_distributed_optimizer_wrapper": "optimizer",
    "NPUDistributedOptimizer": "optimizer",
    "npu_allreduce": "gradients",
}


@on_call("npu_bridge.*")
def double_wrapping(call: Call, file: File) -> Iterator[Finding]:
    kind = _kind(file, call.node)
    given = [*call.node.args, *(one.value for one in call.node.keywords)]
    if kind is None or not given:
        return
    inner = given[0]
    if isinstance(inner, ast.Call) and _kind(file, inner) == kind:
        message = f"the {kind} {_verb(kind)} wrapped already"
        if len(given) == 1 and not call.has_star_arguments:
            yield Finding(call, Outcome.CHANGED, message, call.keep_only(inner))
        else:
            yield Finding(call, Outcome.BY_HAND, f"{message}; keep one of the two calls")
    elif _is_wrapped_before(file, call.node, inner, kind):
        message = f"the {kind} {_verb(kind)} wrapped already, above; leave this call out"
        yield Finding(call, Outcome.BY_HAND, message)


def _is_wrapped_before(file: File, call: ast.Call, given: ast.expr, kind: str) -> bool:
    """Whether the last that was assigned to the argument is wrapped."""
    text = ast.unparse(given)
    assigned = [
        node
        for node in file.inside(scope_of(file, call), ast.Assign)
        if text in map(ast.unparse, node.targets)
        and (node.end_lineno or 0) < call.lineno
        and not exclude_each_other(file, node, call)
    ]
    last = max(assigned, key=lambda node: node.lineno, default=None)
    return last is not None and _kind(file, last.value) == kind


def _kind(file: File, node: ast.expr) -> str | None:
    return _SAME.get(npu_name(called(file, node)) or "")


def _verb(kind: str) -> str:
    return "are" if kind.endswith("s") else "is"
