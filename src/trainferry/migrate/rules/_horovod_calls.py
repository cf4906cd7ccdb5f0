"""How each call of Horovod becomes one of HCCL; None where no edit is certain."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File
from trainferry.migrate.find import Call, wrap
from trainferry.migrate.rule import Finding, Outcome
from trainferry.migrate.rules._distributed import (
    AT_EXIT,
    RANK_FUNCTIONS,
    START,
    START_NAMES,
    WRAPPER,
    broadcast_text,
    horovod_imports,
    imports_of,
    start_imports,
)
from trainferry.migrate.rules._horovod import BUILT, Member, by_hand, member
from trainferry.migrate.rules._npu import has_name
from trainferry.migrate.statements import insert_after, remove_statement

_REDUCTIONS = {"Average": "mean", "Sum": "sum", "Max": "max", "Min": "min"}


def converted(call: Call, what: Member, file: File) -> Finding:
    """The finding for a call of Horovod: with edits where they are certain."""
    if call.has_star_arguments:
        return _with_star(call, what, file) or left(call, what.name)
    if what.name in RANK_FUNCTIONS:
        return _rank(call, what)
    if what.name in BUILT:
        return _built(call, file)
    convert = _CONVERSIONS.get(what.name)
    found = None if convert is None else convert(call, what, file)
    return found or left(call, what.name)


def _with_star(call: Call, what: Member, file: File) -> Finding | None:
    """A wrapper's `hvd.rank(*args)`: how many values that can be is known from Horovod."""
    first = call.node.args[0] if call.node.args else None
    is_alone = len(call.node.args) + len(call.node.keywords) == 1
    if not is_alone or not isinstance(first, ast.Starred):
        return None
    if what.name in RANK_FUNCTIONS:
        return _named_rank(call, what)
    if what.name == "DistributedOptimizer":
        message = "gradients are averaged over all devices by the adapter; pass the optimizer only"
        edit = call.replace_function(WRAPPER)
        return Finding(call, Outcome.CHECK, message, (edit,), imports_of(WRAPPER))
    if what.name == "broadcast_global_variables" and isinstance(first.value, ast.Name):
        return _broadcast_all(call, what, file)
    return _init(call, what, file) if what.name == "init" else None


def left(call: Call, name: str) -> Finding:
    return Finding(call, Outcome.BY_HAND, by_hand(name))


def _rank(call: Call, what: Member) -> Finding:
    if call.node.args or call.node.keywords:
        return left(call, what.name)
    return _named_rank(call, what)


def _named_rank(call: Call, what: Member) -> Finding:
    function = RANK_FUNCTIONS[what.name]
    message = f"`{what.name}` is `{function}` of the adapter"
    edit = call.replace_function(function)
    return Finding(call, Outcome.CHANGED, message, (edit,), imports_of(function))


def _built(call: Call, file: File) -> Finding:
    name = call.name.rpartition(".")[2]
    if any(isinstance(above, ast.Assert) for above in file.parents(call.node)):
        message = f"take `{name}` out of this assertion: HCCL needs none of these libraries"
        return Finding(call, Outcome.BY_HAND, message)
    edit = Edit(*file.source.span(call.node), "False")
    message = f"`{name}` asks for a library that HCCL does not use"
    return Finding(call, Outcome.CHECK, message, (edit,))


def _init(call: Call, _what: Member, file: File) -> Finding | None:
    statement = file.statement(call.node)
    if (call.node.args or call.node.keywords) and not call.has_star_arguments:
        message = (
            f"write `{START}` and name the devices in the rank table: HCCL takes no communicator"
        )
        return Finding(call, Outcome.BY_HAND, message)
    is_returned = isinstance(statement, ast.Return) and statement.value is call.node
    if not (is_returned or _is_whole(statement, call)) or _is_taken(file):
        return None
    first = Edit(*file.source.span(statement), START)
    rest_lines = (*AT_EXIT, "return None") if is_returned else AT_EXIT
    rest = insert_after(file, statement, "\n".join(rest_lines))
    if rest is None:
        edits: tuple[Edit, ...] = (Edit(first.start, first.end, "; ".join((START, *rest_lines))),)
    else:
        edits = (first, rest)
    message = (
        "communication starts here in a session of its own and ends with the program; settings "
        "for all sessions, such as `precision_mode`, go into `init_resource(config=...)` too"
    )
    if call.node.args:
        message += "; a communicator that is passed on is dropped, HCCL has its rank table"
    return Finding(call, Outcome.CHECK, message, edits, start_imports())


def _is_taken(file: File) -> bool:
    return has_name(file, *START_NAMES)


def _shutdown(call: Call, _what: Member, file: File) -> Finding | None:
    statement = file.statement(call.node)
    if not _is_whole(statement, call) or _starts(file) > 1:
        return None
    edit = remove_statement(file, statement)
    if edit is None:
        return None
    message = "communication now ends when the program does, not here"
    return Finding(call, Outcome.CHECK, message, (edit,))


def _starts(file: File) -> int:
    files = {id(one): one for one, _ in horovod_imports(file.project)}.values()
    names = (member(call.name) for one in files for call in one.calls)
    return sum(1 for what in names if what is not None and what.name == "init")


def _is_whole(statement: ast.stmt, call: Call) -> bool:
    return isinstance(statement, ast.Expr) and statement.value is call.node


def _optimizer(call: Call, _what: Member, file: File) -> Finding | None:
    optimizer = call.argument(0, "optimizer")
    if optimizer is None:
        return None
    by_name = {one.arg: one.value for one in call.node.keywords}
    operator = by_name.get("op")
    has_adasum = operator is not None and _asks_for_adasum(operator, file)
    if operator is not None and not has_adasum and _reduction(operator, file) != "mean":
        message = (
            "the adapter's wrapper gives the mean of the gradients; for another reduction use "
            '`npu_allreduce(gradients, "sum")` between `compute_gradients` and `apply_gradients`'
        )
        return Finding(call, Outcome.BY_HAND, message)
    if not _is(by_name.get("backward_passes_per_step"), 1) or len(call.node.args) > 7:
        message = (
            "the adapter's wrapper reduces in every step: add up the gradients of "
            "`backward_passes_per_step` steps in variables, then reduce and apply them"
        )
        return Finding(call, Outcome.BY_HAND, message)
    if "process_set" in by_name:
        return Finding(call, Outcome.BY_HAND, "use `create_group(...)` of HCCL for some ranks only")
    dropped = _all_but(call, (optimizer,))
    edits = (call.replace_function(WRAPPER), *dropped)
    message = "gradients are averaged over all devices by the adapter"
    if operator is not None and has_adasum:
        message += f"; `{file.text(operator)}` is always the mean there, which has no Adasum"
    elif dropped:
        message += "; compression and the other options have no effect there and are dropped"
    outcome = Outcome.CHECK if dropped else Outcome.CHANGED
    return Finding(call, outcome, message, edits, imports_of(WRAPPER))


def _asks_for_adasum(operator: ast.expr, file: File) -> bool:
    """`hvd.Adasum if args.use_adasum else hvd.Average`, as in Horovod's own examples."""
    if not isinstance(operator, ast.IfExp):
        return False
    members = [member(file.full_name(one)) for one in (operator.body, operator.orelse)]
    return [one.name for one in members if one is not None] == ["Adasum", "Average"]


def _hook(call: Call, _what: Member, _file: File) -> Finding | None:
    root = call.argument(0, "root_rank")
    if root is None:
        return None
    index = "get_npu_rank_id()" if call.node.args else "index=get_npu_rank_id()"
    name = "NPUBroadcastGlobalVariablesHook"
    edits = (call.replace_function(name), *_all_but(call, (root,)), call.add_keyword(index))
    message = (
        "the adapter's hook sends the trainable variables only, Horovod's sends all: averages of "
        "batch normalization and slots that only the root restores stay different"
    )
    return Finding(call, Outcome.CHECK, message, edits, imports_of(name, "get_npu_rank_id"))


def _callback(call: Call, _what: Member, _file: File) -> Finding | None:
    root = call.argument(0, "root_rank")
    if root is None:
        return None
    name = "NPUBroadcastGlobalVariablesCallback"
    edits = (call.replace_function(name), *_all_but(call, (root,)))
    message = "variables are sent from the root by the adapter's callback"
    return Finding(call, Outcome.CHANGED, message, edits, imports_of(name))


def _broadcast_all(call: Call, what: Member, file: File) -> Finding | None:
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


def _broadcast_variables(call: Call, what: Member, file: File) -> Finding | None:
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


def _broadcast_imports() -> tuple[str, ...]:
    return "import tensorflow as tf", *imports_of("hccl_ops")


def _broadcast(call: Call, what: Member, file: File) -> Finding | None:
    tensor, root = call.argument(0, "tensor"), call.argument(1, "root_rank")
    if what.is_keras or tensor is None or root is None:
        return None
    edits = (
        call.replace_function("hccl_ops.broadcast"),
        *wrap(file.source, tensor, "[", "]"),
        *_all_but(call, (tensor, root)),
        wrap(file.source, call.node, "", "[0]")[1],
    )
    return Finding(
        call, Outcome.CHANGED, "the tensor is sent with HCCL", edits, imports_of("hccl_ops")
    )


def _allgather(call: Call, what: Member, _file: File) -> Finding | None:
    tensor = call.argument(0, "tensor")
    if what.is_keras or tensor is None:
        return None
    size = "get_npu_rank_size()" if call.node.args else "rank_size=get_npu_rank_size()"
    edits = (
        call.replace_function("hccl_ops.allgather"),
        *_all_but(call, (tensor,)),
        call.add_keyword(size),
    )
    message = "HCCL wants the same shape on every rank; Horovod took first dimensions that differ"
    imports = imports_of("hccl_ops", "get_npu_rank_size")
    return Finding(call, Outcome.CHECK, message, edits, imports)


def _allreduce(call: Call, what: Member, file: File) -> Finding | None:
    tensor = call.argument(0, "tensors" if what.name.startswith("grouped") else "tensor")
    average, operator = call.argument(1, "average"), call.keyword("op")
    scales = (call.keyword("prescale_factor"), call.keyword("postscale_factor"))
    hidden = [one for one in scales if one and not _is(one.value, 1)]
    if what.is_keras or tensor is None or hidden or call.keyword("process_set"):
        return None
    reduction = "mean" if operator is None else _reduction(operator.value, file)
    if reduction is None:
        return None
    edits = [call.replace_function("npu_allreduce"), *_name_values(call, tensor)]
    if average is not None and operator is None:
        edits += _averaged(call, average)
        edits += _all_but(call, (tensor, average))
    else:
        edits += _all_but(call, (tensor,))
        edits += [] if reduction == "mean" else [call.add_keyword(_named(reduction))]
    message = "the values are reduced with HCCL"
    return Finding(call, Outcome.CHANGED, message, tuple(edits), imports_of("npu_allreduce"))


def _named(reduction: str) -> str:
    fused = "" if reduction == "sum" else ", fusion=0"  # HCCL fuses sums only
    return f'reduction="{reduction}"{fused}'


def _name_values(call: Call, tensor: ast.expr) -> Iterable[Edit]:
    return [call.rename_keyword(one, "values") for one in call.node.keywords if one.value is tensor]


def _averaged(call: Call, average: ast.expr) -> list[Edit]:
    """`average=x` as a reduction; a condition stays one."""
    keyword = next((one for one in call.node.keywords if one.value is average), None)
    edits = [] if keyword is None else [call.rename_keyword(keyword, "reduction")]
    if isinstance(average, ast.Constant):
        return [*edits, call.replace_argument(average, '"mean"' if average.value else '"sum"')]
    return [*edits, *wrap(call.source, average, '"mean" if (', ') else "sum"')]


def _reduction(operator: ast.expr, file: File) -> str | None:
    what = member(file.full_name(operator))
    return None if what is None else _REDUCTIONS.get(what.name)


def _is(node: ast.expr | None, value: float) -> bool:
    """Whether an option is not given or has its harmless value."""
    return node is None or (isinstance(node, ast.Constant) and node.value == value)


def _all_but(call: Call, kept: tuple[ast.expr, ...]) -> list[Edit]:
    """Take away all arguments but these."""
    placed = [call.remove_argument(one) for one in call.node.args if one not in kept]
    named = [call.remove_argument(one) for one in call.node.keywords if one.value not in kept]
    return placed + named


_CONVERSIONS: dict[str, Callable[[Call, Member, File], Finding | None]] = {
    "init": _init,
    "shutdown": _shutdown,
    "DistributedOptimizer": _optimizer,
    "BroadcastGlobalVariablesHook": _hook,
    "callbacks.BroadcastGlobalVariablesCallback": _callback,
    "broadcast_global_variables": _broadcast_all,
    "broadcast_variables": _broadcast_variables,
    "broadcast": _broadcast,
    "allgather": _allgather,
    "allreduce": _allreduce,
    "grouped_allreduce": _allreduce,
}
