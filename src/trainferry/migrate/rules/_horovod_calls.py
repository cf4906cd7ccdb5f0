"""How each call of Horovod becomes one of HCCL, or what the user has to do instead."""

from __future__ import annotations

import ast
from collections.abc import Callable

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Finding, Outcome
from trainferry.migrate.rules._distributed import RANK_FUNCTIONS, WRAPPER, imports_of
from trainferry.migrate.rules._horovod import BUILT, Member, by_hand
from trainferry.migrate.rules._horovod_start import convert_init, convert_shutdown
from trainferry.migrate.rules._horovod_tensors import (
    convert_allgather,
    convert_allreduce,
    convert_broadcast,
)
from trainferry.migrate.rules._horovod_training import (
    convert_broadcast_all,
    convert_broadcast_variables,
    convert_callback,
    convert_hook,
    convert_optimizer,
)


def converted(call: Call, what: Member, file: File) -> Finding:
    """The finding for a call of Horovod: with edits where they are certain."""
    if call.has_star_arguments:
        return _with_star(call, what, file) or _left(call, what.name)
    if what.name in RANK_FUNCTIONS:
        return _rank(call, what)
    if what.name in BUILT:
        return _built(call, file)
    convert = _CONVERSIONS.get(what.name)
    found = None if convert is None else convert(call, what, file)
    return found or _left(call, what.name)


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
        return convert_broadcast_all(call, what, file)
    return convert_init(call, what, file) if what.name == "init" else None


def _rank(call: Call, what: Member) -> Finding:
    if call.node.args or call.node.keywords:
        return _left(call, what.name)
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


def _left(call: Call, name: str) -> Finding:
    return Finding(call, Outcome.BY_HAND, by_hand(name))


_CONVERSIONS: dict[str, Callable[[Call, Member, File], Finding | None]] = {
    "init": convert_init,
    "shutdown": convert_shutdown,
    "DistributedOptimizer": convert_optimizer,
    "BroadcastGlobalVariablesHook": convert_hook,
    "callbacks.BroadcastGlobalVariablesCallback": convert_callback,
    "broadcast_global_variables": convert_broadcast_all,
    "broadcast_variables": convert_broadcast_variables,
    "broadcast": convert_broadcast,
    "allgather": convert_allgather,
    "allreduce": convert_allreduce,
    "grouped_allreduce": convert_allreduce,
}
