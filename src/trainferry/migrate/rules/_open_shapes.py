"""Where a project compares the sizes of a tensor with an open batch: `[None, 64, 64, 3]`.

Only sizes as numbers are looked at. In TensorFlow 1.15 a `TensorShape` with an open size equals
nothing, and `shape[0]` is an object, never None: such comparisons come out as before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from trainferry.migrate.file import File
from trainferry.migrate.rules._configs import assigned_values
from trainferry.migrate.rules._dataflow import only_value, text_in_line

_FED = frozenset(
    (
        "tf.placeholder",
        "tf.placeholder_with_default",
        "tf.sparse_placeholder",
        "tf.keras.Input",
        "tf.keras.backend.placeholder",
        "tf.keras.layers.Input",
    )
)
_SIZES = frozenset(("tf.keras.backend.int_shape", "keras.backend.int_shape"))
_SIZE = frozenset(("tf.dimension_value", "tf.compat.dimension_value"))
_LONGEST_CHAIN = 8
_EQUALS = ast.Eq | ast.Is
_DIFFERS = ast.NotEq | ast.IsNot


class OpenShape(NamedTuple):
    """A comparison, or a call that makes one; `sizes` are those compared, None for only the first.

    `stops`: whether a run stops here where the first size is a number.
    """

    node: ast.expr
    sizes: ast.expr | None
    stops: bool


def open_shapes(file: File) -> Iterator[OpenShape]:
    """All places of a file that count on the first size of a tensor being None."""
    for one in file.nodes(ast.Compare):
        if len(one.ops) != 1 or not isinstance(one.ops[0], _EQUALS | _DIFFERS):
            continue
        for sizes, other in ((one.left, one.comparators[0]), (one.comparators[0], one.left)):
            tensor, is_first = _tensor_of_sizes(file, sizes), False
            if tensor is None:
                tensor, is_first = _tensor_of_first(file, sizes), True
            is_open = _is_none(other) if is_first else _is_open(file, other)
            if tensor is None or not is_open or _is_fed(file, tensor) or _has_both(file, one):
                continue
            yield OpenShape(one, None if is_first else sizes, _stops(file, one))
    for call in file.nodes(ast.Call):
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        is_open = name == "assert_has_shape" and any(_is_open(file, one) for one in call.args)
        if is_open and not any(_is_fed(file, one) for one in call.args):
            yield OpenShape(call, None, stops=True)


def what_stands_there(file: File, shape: OpenShape, made: list[tuple[File, str]]) -> str:
    """The sentence about a place; `made` are files and the batch sizes that are fixed in them."""
    homes = {str(home.source.path) for home, _ in made}
    is_elsewhere = len(homes) == 1 and made[0][0] is not file
    where = f" of `{homes.pop()}`" if is_elsewhere else ""
    sizes = {size for _, size in made}
    size = f"`{sizes.pop()}`" if len(sizes) == 1 and "" not in sizes else "a number"
    what = f"of what the training batches{where} become, the first size is {size} now, not None: "
    if not shape.stops:
        return f"{what}see that what follows from this comparison is right for both"
    if shape.sizes is None:
        return f"{what}this stops the run; leave the first size out"
    return f"{what}this stops the run; compare `{text_in_line(file, shape.sizes)}[1:]`"


def _tensor_of_sizes(file: File, node: ast.expr, left: int = _LONGEST_CHAIN) -> ast.expr | None:
    """The tensor whose sizes an expression lists as numbers: `x.shape.as_list()`."""
    inner: ast.expr | None = None
    if isinstance(node, ast.Name):
        inner = only_value(file, node)
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        inner = node.value if node.slice.lower is None and node.slice.step is None else None
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("list", "tuple"):
        inner = node.args[0] if len(node.args) == 1 else None
    elif isinstance(node, ast.Call):
        return _tensor_of_call(file, node)
    return None if inner is None or left == 0 else _tensor_of_sizes(file, inner, left - 1)


def _tensor_of_call(file: File, call: ast.Call) -> ast.expr | None:
    if isinstance(call.func, ast.Attribute) and call.func.attr == "as_list":
        return _tensor_of_shape(file, call.func.value)
    return call.args[0] if call.args and file.full_name(call.func) in _SIZES else None


def _tensor_of_first(file: File, node: ast.expr) -> ast.expr | None:
    """The tensor whose first size an expression is as a number: `x.shape[0].value`."""
    if isinstance(node, ast.Subscript) and _is_zero(node.slice):
        return _tensor_of_sizes(file, node.value)
    if isinstance(node, ast.Attribute) and node.attr == "value":
        size = node.value
    elif isinstance(node, ast.Call) and file.full_name(node.func) in _SIZE and node.args:
        size = node.args[0]
    else:
        return None
    if not (isinstance(size, ast.Subscript) and _is_zero(size.slice)):
        return None
    shape = size.value
    if isinstance(shape, ast.Attribute) and shape.attr == "dims":
        shape = shape.value
    return _tensor_of_shape(file, shape)


def _tensor_of_shape(file: File, node: ast.expr) -> ast.expr | None:
    """The tensor of `x.shape` and `x.get_shape()`."""
    shape = only_value(file, node) if isinstance(node, ast.Name) else node
    if isinstance(shape, ast.Call):
        shape, name = shape.func, "get_shape"
    else:
        name = "shape"
    return shape.value if isinstance(shape, ast.Attribute) and shape.attr == name else None


def _is_open(file: File, node: ast.expr) -> bool:
    """Whether a list of sizes is written out and starts with None."""
    if isinstance(node, ast.Name):
        value = only_value(file, node)
        return isinstance(value, ast.List | ast.Tuple) and _is_open(file, value)
    return isinstance(node, ast.List | ast.Tuple) and _is_none(*node.elts[:1])


def _is_none(*nodes: ast.expr) -> bool:
    return any(isinstance(node, ast.Constant) and node.value is None for node in nodes)


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0 and node.value is not False


def _is_fed(file: File, tensor: ast.expr) -> bool:
    """Whether a tensor is a placeholder, whose batch stays open."""
    return any(
        isinstance(value, ast.Call) and file.full_name(value.func) in _FED
        for value in (tensor, *assigned_values(file, tensor))
    )


def _has_both(file: File, node: ast.expr) -> bool:
    """Whether the size is asked of the graph where it is not a number, which is right for both."""
    around = next(
        (one for one in file.parents(node) if isinstance(one, ast.If | ast.IfExp | ast.stmt)), None
    )
    return around is not None and any(
        file.full_name(one.func) == "tf.shape" for one in file.inside(around, ast.Call)
    )


def _stops(file: File, node: ast.Compare) -> bool:
    is_true = isinstance(node.ops[0], _DIFFERS)  # what comes out when the size is a number
    below: ast.AST = node
    for above in file.parents(node):
        if isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.Not):
            is_true = not is_true
        elif isinstance(above, ast.BoolOp):
            if isinstance(above.op, ast.Or) is not is_true:
                return False  # the other parts decide
        elif isinstance(above, ast.Assert):
            return below is above.test and not is_true
        elif isinstance(above, ast.If) and below is above.test:
            taken = above.body if is_true else above.orelse
            return bool(taken) and isinstance(taken[-1], ast.Raise)
        else:
            return False
        below = above
    return False
