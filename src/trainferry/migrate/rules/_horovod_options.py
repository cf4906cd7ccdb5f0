"""Options of Horovod's calls: which HCCL has too, and which do no harm when they are dropped."""

from __future__ import annotations

import ast

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rules._horovod import member

_REDUCTIONS = {"Average": "mean", "Sum": "sum", "Max": "max", "Min": "min"}


def reduction_of(operator: ast.expr, file: File) -> str | None:
    what = member(file.full_name(operator))
    return None if what is None else _REDUCTIONS.get(what.name)


def is_harmless(node: ast.expr | None, value: float) -> bool:
    """Whether an option is not given or has its harmless value."""
    return node is None or (isinstance(node, ast.Constant) and node.value == value)


def drop_others(call: Call, kept: tuple[ast.expr, ...]) -> list[Edit]:
    """Take away all arguments but these."""
    placed = [call.remove_argument(one) for one in call.node.args if one not in kept]
    named = [call.remove_argument(one) for one in call.node.keywords if one.value not in kept]
    return placed + named
