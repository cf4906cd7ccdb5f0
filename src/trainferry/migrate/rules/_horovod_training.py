"""What Horovod adds to training: the optimizer, and variables that start out the same on all ranks.

None where no edit is certain.
"""

from __future__ import annotations

import ast

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Finding, Outcome
from trainferry.migrate.rules._distributed import WRAPPER, broadcast_text, imports_of
from trainferry.migrate.rules._horovod import Member, member
from trainferry.migrate.rules._horovod_options import drop_others, is_harmless, reduction_of


def convert_optimizer(call: Call, _what: Member, file: File) -> Finding | None:
    optimizer = call.argument(0, "optimizer")
    if optimizer is None:
        return None
    by_name = {one.arg: one.value for one in call.node.keywords}
    operator = by_name.get("op")
    has_adasum = operator is not None and _asks_for_adasum(operator, file)
    if operator is not None and not has_adasum and reduction_of(operator, file) != "mean":
        message = (
            "the adapter's wrapper gives the mean of the gradients; for another reduction use "
            '`npu_allreduce(gradients, "sum")` between `compute_gradients` and `apply_gradients`'
        )
        return Finding(call, Outcome.BY_HAND, message)
    if not is_harmless(by_name.get("backward_passes_per_step"), 1) or len(call.node.args) > 7:
        message = (
            "the adapter's wrapper reduces in every step: add up the gradients of "
            "`backward_passes_per_step` steps in variables, then reduce and apply them"
        )
        return Finding(call, Outcome.BY_HAND, message)
    if "process_set" in by_name:
        return Finding(call, Outcome.BY_HAND, "use `create_group(...)` of HCCL for some ranks only")
    dropped = drop_others(call, (optimizer,))
    edits = (call.replace_function(WRAPPER), *dropped)
    message = "gradients are averaged over all devices by the adapter"
    if operator is not None and has_adasum:
        message += f"; `{file.text(operator)}` is always the mean there, which has no Adasum"
    elif dropped:
        message += "; compression and the other options have no effect there and are dropped"
    outcome = Outcome.CHECK if dropped else Outcome.CHANGED
    return Finding(call, outcome, message, edits, imports_of(WRAPPER))


def convert_hook(call: Call, _what: Member, _file: File) -> Finding | None:
    root = call.argument(0, "root_rank")
    if root is None:
        return None
    index = "get_npu_rank_id()" if call.node.args else "index=get_npu_rank_id()"
    name = "NPUBroadcastGlobalVariablesHook"
    edits = (call.replace_function(name), *drop_others(call, (root,)), call.add_keyword(index))
    message = (
        "the adapter's hook sends the trainable variables only, Horovod's sends all: averages of "
        "batch normalization and slots that only the root restores stay different"
    )
    return Finding(call, Outcome.CHECK, message, edits, imports_of(name, "get_npu_rank_id"))


def convert_callback(call: Call, _what: Member, _file: File) -> Finding | None:
    root = call.argument(0, "root_rank")
    if root is None:
        return None
    name = "NPUBroadcastGlobalVariablesCallback"
    edits = (call.replace_function(name), *drop_others(call, (root,)))
    message = "variables are sent from the root by the adapter's callback"
    return Finding(call, Outcome.CHANGED, message, edits, imports_of(name))


def convert_broadcast_all(call: Call, what: Member, file: File) -> Finding | None:
    star = call.node.args[0] if call.has_star_arguments else None
    root = star or call.argument(0, "root_rank")
    if what.is_keras or not isinstance(root, ast.Constant | ast.Name | ast.Starred):
        return None
    floating = " if variable.dtype.is_floating"
    text = broadcast_text(file.text(root), "tf.global_variables()", floating)
    message = (
        "all floating-point variables are sent, with the averages of batch normalization; the "
        "global step and other integers are not, so every rank must restore the same checkpoint"
    )
    edit = Edit(*file.source.span(call.node), text)
    return Finding(call, Outcome.CHECK, message, (edit,), _broadcast_imports())


def convert_broadcast_variables(call: Call, what: Member, file: File) -> Finding | None:
    variables, root = call.argument(0, "variables"), call.argument(1, "root_rank")
    is_plain = isinstance(root, ast.Constant | ast.Name) and file.full_name(root) is None
    if what.is_keras or variables is None or root is None or not is_plain:
        return None
    before, _, after = broadcast_text(file.text(root), "(\0)").partition("\0")
    start, end = file.source.span(call.node)
    inner_start, inner_end = file.source.span(variables)
    edits = (Edit(start, inner_start, before), Edit(inner_end, end, after))
    message = "variables are sent from the root with HCCL"
    return Finding(call, Outcome.CHANGED, message, edits, _broadcast_imports())


def _asks_for_adasum(operator: ast.expr, file: File) -> bool:
    """`hvd.Adasum if args.use_adasum else hvd.Average`, as in Horovod's own examples."""
    if not isinstance(operator, ast.IfExp):
        return False
    members = [member(file.full_name(one)) for one in (operator.body, operator.orelse)]
    return [one.name for one in members if one is not None] == ["Adasum", "Average"]


def _broadcast_imports() -> tuple[str, ...]:
    return "import tensorflow as tf", *imports_of("hccl_ops")
