"""What rules for input pipelines ask: what a name holds, and what a dataset was made by."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from trainferry.migrate.file import File, Function

_BLOCKS = ("body", "orelse", "finalbody")
_LONGEST_CHAIN = 60
_LONGEST_TEXT = 70
_FIXED = ast.Name | ast.Attribute | ast.Subscript | ast.BinOp

# Methods and functions that make an endless dataset of an endless one.
_STAYS_ENDLESS = frozenset(
    (
        "cache",
        "enumerate",
        "filter",
        "flat_map",
        "interleave",
        "map",
        "prefetch",
        "repeat",
        "shard",
        "shuffle",
        "skip",
        "with_options",
    )
)


def only_value(file: File, name: ast.Name) -> ast.expr | None:
    """The one value that a variable is ever given; None when there are several, or none."""
    scope: Function | None = file.function(name)
    while True:
        bound = _bindings(file, file.source.tree if scope is None else scope).get(name.id, [])
        if bound or scope is None:
            return bound[0] if len(bound) == 1 else None
        scope = file.function(scope)


def _values_before(file: File, name: ast.Name) -> list[ast.expr]:
    """All that the statements above can give a variable; none where not all are known."""
    statement: ast.AST = file.statement(name)
    found: list[ast.expr] = []
    while True:
        above = file.parent(statement)
        if above is None:
            return []
        given = _given(_earlier(above, statement), name.id)
        if given is None:
            return []
        found += given.values
        if not given.is_open:
            return found
        if not isinstance(above, ast.If | ast.With):
            return []
        if _stores(above, name.id) and isinstance(above, ast.With):
            return []
        statement = above


class _Given(NamedTuple):
    """What statements give a variable; `is_open` where they may give it nothing."""

    values: list[ast.expr]
    is_open: bool


def _given(statements: list[ast.AST], name: str) -> _Given | None:
    """What statements give a variable in the end; None when that is not clear."""
    values: list[ast.expr] = []
    for one in reversed(statements):
        if isinstance(one, ast.Assign) and _targets(one) == [name]:
            return _Given([*values, one.value], False)
        if not _stores(one, name):
            continue
        if not isinstance(one, ast.If) or _stores(one.test, name):
            return None
        branches = [_given([*block], name) for block in (one.body, one.orelse)]
        known = [branch for branch in branches if branch is not None]
        if len(known) < len(branches):
            return None
        values += [value for branch in known for value in branch.values]
        if not any(branch.is_open for branch in known):
            return _Given(values, False)
    return _Given(values, True)


def is_endless(file: File, data: ast.expr, longest: int = _LONGEST_CHAIN) -> bool:
    """Whether a dataset is surely repeated for ever, so that no batch of it is smaller."""
    for left in range(longest, 0, -1):
        if isinstance(data, ast.Name):
            values = _values_before(file, data)
            if len(values) != 1:
                return bool(values) and all(is_endless(file, one, left // 2) for one in values)
            data = values[0]
        if not (isinstance(data, ast.Call) and isinstance(data.func, ast.Attribute)):
            return False
        if _repeats_for_ever(file, data):
            return True
        if data.func.attr not in _STAYS_ENDLESS:
            return False
        data = data.func.value
    return False


def is_fixed_shape(file: File, shapes: ast.expr) -> bool:
    """Whether a shape, or a structure of shapes, is written out without an open size."""
    if isinstance(shapes, ast.Name):
        value = only_value(file, shapes)
        return value is not None and is_fixed_shape(file, value)
    if isinstance(shapes, ast.Dict):
        return all(is_fixed_shape(file, one) for one in shapes.values)
    if isinstance(shapes, ast.Call):
        is_shape = file.full_name(shapes.func) == "tf.TensorShape"
        return is_shape and bool(shapes.args) and is_fixed_shape(file, shapes.args[0])
    if not isinstance(shapes, ast.List | ast.Tuple):
        return False
    return all(_is_size(one) or is_fixed_shape(file, one) for one in shapes.elts)


def functions_of_pipelines(file: File) -> set[ast.AST]:
    """Functions and lambdas that a dataset of this file calls, and what those call."""
    by_name = {function.name: function for function in file.functions}
    found: set[ast.AST] = set()
    todo: list[ast.AST] = []
    for argument in _mapped(file):
        if isinstance(argument, ast.Lambda):
            todo.append(argument)
        elif isinstance(argument, ast.Name) and argument.id in by_name:
            todo.append(by_name[argument.id])
    while todo:
        function = todo.pop()
        if function not in found:
            found.add(function)
            called = (one.func for one in file.inside(function, ast.Call))
            names = (one.id for one in called if isinstance(one, ast.Name))
            todo += [by_name[name] for name in names if name in by_name]
    return found


def text_in_line(file: File, node: ast.AST) -> str:
    """The text of a node as it stands in a sentence: on one line, and not too long."""
    text = " ".join(file.text(node).split())
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 3] + "..."


def constant(node: ast.expr | None) -> object:
    """The value of a literal, or None for no node; NO_CONSTANT for all else."""
    if node is None:
        return None
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = constant(node.operand)
        return -value if isinstance(value, int | float) else NO_CONSTANT
    return NO_CONSTANT


NO_CONSTANT = object()


def _mapped(file: File) -> Iterator[ast.expr]:
    for method in ("map", "flat_map", "interleave", "filter"):
        for call in file.method_calls(method):
            if call.name == f"tf.data.Dataset.{method}" and call.node.args:
                yield call.node.args[0]
    for call in file.calls:
        if call.name.endswith(".map_and_batch") and call.node.args:
            yield call.node.args[0]


def _repeats_for_ever(file: File, call: ast.Call) -> bool:
    assert isinstance(call.func, ast.Attribute)
    if call.func.attr == "repeat":
        return _count(call, 0) in (None, -1)
    if call.func.attr != "apply" or len(call.args) != 1:
        return False
    made = call.args[0]
    return (
        isinstance(made, ast.Call)
        and (file.full_name(made.func) or "").endswith(".shuffle_and_repeat")
        and _count(made, 1) in (None, -1)
    )


def _count(call: ast.Call, position: int) -> object:
    if any(isinstance(one, ast.Starred) for one in call.args):
        return NO_CONSTANT
    if len(call.args) > position:
        return constant(call.args[position])
    for keyword in call.keywords:
        if keyword.arg in ("count", None):
            return constant(keyword.value)
    return None


_Bindings = dict[str, list[ast.expr | None]]


def _bindings(file: File, scope: ast.AST) -> _Bindings:
    """All that binds names in a scope: the values given, or None for one that is not written."""
    known = file.once(_known_bindings)
    if scope not in known:
        known[scope] = defaultdict(list)
        for name, value in _bound(file, scope):
            known[scope][name].append(value)
    return known[scope]


def _known_bindings(_file: File) -> dict[ast.AST, _Bindings]:
    return {}


def _bound(file: File, scope: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    if isinstance(scope, Function):
        arguments = [*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs]
        extra = [one for one in (scope.args.vararg, scope.args.kwarg) if one is not None]
        yield from ((one.arg, None) for one in [*arguments, *extra])
    for node in _own_nodes(scope):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            above = file.parent(node)
            yield node.id, above.value if isinstance(above, ast.Assign | ast.NamedExpr) else None
        elif isinstance(node, Function | ast.ClassDef):
            yield node.name, None
        elif isinstance(node, ast.Global | ast.Nonlocal):
            yield from ((name, None) for name in node.names * 2)


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """All below a scope but what stands in functions and classes of its own."""
    todo = list(ast.iter_child_nodes(scope))
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, Function | ast.ClassDef | ast.Lambda):
            todo += ast.iter_child_nodes(node)


def _earlier(above: ast.AST, statement: ast.AST) -> list[ast.AST]:
    for block in _BLOCKS:
        statements = getattr(above, block, None)
        if isinstance(statements, list) and statement in statements:
            return list(statements[: statements.index(statement)])
    return []


def _targets(assignment: ast.Assign) -> list[str | None]:
    return [one.id if isinstance(one, ast.Name) else None for one in assignment.targets]


def _stores(node: ast.AST, name: str) -> bool:
    return any(
        isinstance(one, ast.Name) and one.id == name and not isinstance(one.ctx, ast.Load)
        for one in ast.walk(node)
    )


def _is_size(node: ast.expr) -> bool:
    value = constant(node)
    is_number = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return is_number or isinstance(node, _FIXED)
