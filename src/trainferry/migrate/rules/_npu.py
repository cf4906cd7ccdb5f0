"""What several rules ask about code for the NPU: names of the adapter, values, branches."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File, ProjectFiles
from trainferry.migrate.nodes import walk
from trainferry.migrate.parameters import NOT_LITERAL

_DISTRIBUTED = frozenset(
    (
        "KerasDistributeOptimizer",
        "NPUDistributedOptimizer",
        "NPUStrategy",
        "get_npu_rank_size",
        "get_rank_size",
        "npu_distributed_optimizer_wrapper",
    )
)
_AS_BYTES = frozenset(("tf.compat.as_bytes", "tensorflow.python.util.compat.as_bytes"))


def npu_name(name: str | None) -> str | None:
    """The adapter's own name for a full name: star and plain imports have different paths."""
    if name is None or not name.startswith(("npu_bridge.", "hccl.")):
        return None
    return name.rpartition(".")[2]


def called(file: File, node: ast.AST | None) -> str | None:
    """Full name of the function that an expression calls; None when it is no known call."""
    return file.full_name(node.func) if isinstance(node, ast.Call) else None


def is_distributed(project: ProjectFiles) -> bool:
    """Whether the project may run on more than one device."""
    if project.options.distributed != "auto":
        return project.options.distributed != "none"
    if "horovod" in project.libraries:
        return True
    return any(
        name.startswith(("tf.distribute.", "tf.contrib.distribute."))
        or npu_name(name) in _DISTRIBUTED
        for name in project.used
    )


def value_of(file: File, node: ast.expr) -> object:
    """The value of a literal, also as bytes in the usual ways; NOT_LITERAL for anything else."""
    if isinstance(node, ast.Call):
        return _bytes_of(file, node)
    try:
        value: object = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return NOT_LITERAL
    if isinstance(value, str) and file.source.python == 2:
        return value.encode()
    return value


def _bytes_of(file: File, call: ast.Call) -> object:
    """`tf.compat.as_bytes("x")`, `bytes("x", "utf-8")`, `str.encode("x")`, `"x".encode()`."""
    function = call.func
    text: ast.expr | None = call.args[0] if call.args else None
    if isinstance(function, ast.Attribute) and function.attr == "encode":
        text = text if isinstance(function.value, ast.Name) else function.value
    elif not (
        file.full_name(function) in _AS_BYTES
        or (isinstance(function, ast.Name) and function.id == "bytes")
    ):
        return NOT_LITERAL
    if isinstance(text, ast.Constant) and isinstance(text.value, str):
        return text.value.encode()
    return NOT_LITERAL


def exclude_each_other(file: File, one: ast.AST, other: ast.AST) -> bool:
    """Whether the two stand in different branches of one `if` or `try`."""
    branches = dict(_branches(file, one))
    return any(branches.get(above, branch) != branch for above, branch in _branches(file, other))


def _branches(file: File, node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    below = node
    for above in file.parents(node):
        if isinstance(above, ast.If | ast.IfExp):
            parts = [part for part in ("body", "orelse") if _holds(getattr(above, part), below)]
            yield above, parts[0] if parts else "test"
        elif isinstance(above, ast.Try):
            yield above, "except" if isinstance(below, ast.ExceptHandler) else "body"
        below = above


def _holds(part: list[ast.stmt] | ast.expr, node: ast.AST) -> bool:
    return node in part if isinstance(part, list) else node is part


def scope_of(file: File, node: ast.AST) -> ast.AST:
    """The function that a node stands in, or the file."""
    return file.function(node) or file.source.tree


def names_in(scope: ast.AST, name: str) -> Iterator[ast.Name]:
    """Every place in a scope, and in the functions in it, where `name` stands."""
    return (node for node in walk(scope) if isinstance(node, ast.Name) and node.id == name)


def has_name(file: File, *names: str) -> bool:
    """Whether a file has one of these names for anything: a new variable may not be called so."""
    return any(not _names_of(node).isdisjoint(names) for node in walk(file.source.tree))


def _names_of(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.arg):
        return {node.arg}
    if isinstance(node, ast.alias):
        return {node.asname or node.name.partition(".")[0]}
    if isinstance(node, ast.Global | ast.Nonlocal):
        return set(node.names)
    name = getattr(node, "name", None)  # functions, classes, exceptions
    return {name} if isinstance(name, str) else set()


def assigned_to(file: File, node: ast.expr) -> list[ast.expr]:
    """All that a name is set to where it is read; the expression itself when it is no name.

    Nothing for a parameter, and for a name that is set in other ways than `name = value`.
    """
    if not isinstance(node, ast.Name):
        return [node]
    inside: ast.AST | None = scope_of(file, node)
    while inside is not None:
        named = [one for one in file.inside(inside, ast.Name) if one.id == node.id]
        own = [one for one in named if scope_of(file, one) is inside]
        stores = [one for one in own if isinstance(one.ctx, ast.Store)]
        if stores or _is_parameter(inside, node.id):
            above = [file.parent(one) for one in stores]
            values = [one.value for one in above if isinstance(one, ast.Assign)]
            is_plain = len(values) == len(stores) and not _is_parameter(inside, node.id)
            return values if is_plain else []
        inside = scope_of(file, inside) if file.parent(inside) else None
    return []


def _is_parameter(function: ast.AST, name: str) -> bool:
    arguments = getattr(function, "args", None)
    found = [] if arguments is None else walk(arguments)
    return any(isinstance(one, ast.arg) and one.arg == name for one in found)


def last_identifier(node: ast.expr) -> str:
    """`loss_scale` of `self.loss_scale`, `FLAGS.loss_scale` or `flags["loss_scale"]`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    return ""
