"""Tensors that are sent, gathered and reduced: with HCCL; None where no edit is certain."""

from __future__ import annotations

import ast

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File
from trainferry.migrate.find import Call, wrap
from trainferry.migrate.rule import Finding, Outcome
from trainferry.migrate.rules._distributed import imports_of
from trainferry.migrate.rules._horovod import Member
from trainferry.migrate.rules._horovod_options import drop_others, is_harmless, reduction_of


def convert_broadcast(call: Call, what: Member, file: File) -> Finding | None:
    tensor, root = call.argument(0, "tensor"), call.argument(1, "root_rank")
    if what.is_keras or tensor is None or root is None:
        return None
    edits = (
        call.replace_function("hccl_ops.broadcast"),
        *wrap(file.source, tensor, "[", "]"),
        *drop_others(call, (tensor, root)),
        wrap(file.source, call.node, "", "[0]")[1],
    )
    return Finding(
        call, Outcome.CHANGED, "the tensor is sent with HCCL", edits, imports_of("hccl_ops")
    )


def convert_allgather(call: Call, what: Member, _file: File) -> Finding | None:
    tensor = call.argument(0, "tensor")
    if what.is_keras or tensor is None:
        return None
    size = "get_npu_rank_size()" if call.node.args else "rank_size=get_npu_rank_size()"
    edits = (
        call.replace_function("hccl_ops.allgather"),
        *drop_others(call, (tensor,)),
        call.add_keyword(size),
    )
    message = "HCCL wants the same shape on every rank; Horovod took first dimensions that differ"
    imports = imports_of("hccl_ops", "get_npu_rank_size")
    return Finding(call, Outcome.CHECK, message, edits, imports)


def convert_allreduce(call: Call, what: Member, file: File) -> Finding | None:
    tensor = call.argument(0, "tensors" if what.name.startswith("grouped") else "tensor")
    average, operator = call.argument(1, "average"), call.keyword("op")
    scales = (call.keyword("prescale_factor"), call.keyword("postscale_factor"))
    hidden = [one for one in scales if one and not is_harmless(one.value, 1)]
    if what.is_keras or tensor is None or hidden or call.keyword("process_set"):
        return None
    reduction = "mean" if operator is None else reduction_of(operator.value, file)
    if reduction is None:
        return None
    edits = [call.replace_function("npu_allreduce"), *_name_values(call, tensor)]
    if average is not None and operator is None:
        edits += _averaged(call, average)
        edits += drop_others(call, (tensor, average))
    else:
        edits += drop_others(call, (tensor,))
        edits += [] if reduction == "mean" else [call.add_keyword(_named(reduction))]
    message = "the values are reduced with HCCL"
    return Finding(call, Outcome.CHANGED, message, tuple(edits), imports_of("npu_allreduce"))


def _named(reduction: str) -> str:
    fused = "" if reduction == "sum" else ", fusion=0"  # HCCL fuses sums only
    return f'reduction="{reduction}"{fused}'


def _name_values(call: Call, tensor: ast.expr) -> list[Edit]:
    return [call.rename_keyword(one, "values") for one in call.node.keywords if one.value is tensor]


def _averaged(call: Call, average: ast.expr) -> list[Edit]:
    """`average=x` as a reduction; a condition stays one."""
    keyword = next((one for one in call.node.keywords if one.value is average), None)
    edits = [] if keyword is None else [call.rename_keyword(keyword, "reduction")]
    if isinstance(average, ast.Constant):
        return [*edits, call.replace_argument(average, '"mean"' if average.value else '"sum"')]
    return [*edits, *wrap(call.source, average, '"mean" if (', ') else "sum"')]
