"""Use an epsilon that float16 can hold.

A constant below 6e-8 becomes 0 in float16. Added to a denominator or to the argument of a
logarithm so that it is never 0, it does nothing under mixed precision: the result is Inf, or the
largest number, and the step is lost.

    -return inter / (union + 1e-8)
    +return inter / (union + 1e-4)

By hand: always; about 1e-4 is a value that float16 holds well.
Not told: optimizers, which compute in float32, and code of NumPy.

Source: Ascend TF Adapter 1.x migration guide, frequently asked questions, mixed precision.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.library import is_tensorflow
from trainferry.migrate.rule import Concern, Finding, Outcome, Spot, on_file
from trainferry.migrate.rules._npu import assigned_to, called

CONCERN = Concern.PRECISION

_SMALLEST = 2.0**-24  # of float16
_SMALL_NUMBER = re.compile(rb"[0-9](?:[eE]-0*[0-9]|(?<=0)\.0{7})")
_GUARDED = frozenset(
    ("log", "sqrt", "rsqrt", "reciprocal", "div", "divide", "truediv", "realdiv", "pow")
)
_LIMITS = frozenset(("clip_by_value", "maximum"))
_KEYWORDS = frozenset(("epsilon", "eps", "variance_epsilon"))


@on_file
def tiny_epsilon(file: File) -> Iterator[Finding]:
    if "tf" not in file.libraries or not _SMALL_NUMBER.search(file.source.data):
        return
    told: set[ast.expr] = set()
    for node in _constants(file):
        for literal in assigned_to(file, node):
            if _is_tiny(literal) and literal not in told:
                told.add(literal)
                message = f"`{file.text(literal)}` is 0 in float16; take about 1e-4"
                yield Finding(Spot(file.source, literal), Outcome.BY_HAND, message)


def _constants(file: File) -> Iterator[ast.expr]:
    """Literals, and names for them, that keep something from being 0."""
    for call in file.calls:
        last = call.name.rpartition(".")[2]
        if not is_tensorflow(call.name) or "ptimizer" in call.name:
            continue
        yield from (one.value for one in call.node.keywords if one.arg in _KEYWORDS)
        if last in _LIMITS:
            yield from call.node.args[1:2]
        elif last in _GUARDED:
            for argument in call.node.args:
                yield from _added(argument)
    for divided in file.nodes(ast.BinOp):
        if isinstance(divided.op, ast.Div) and (found := [*_added(divided.right)]):
            yield from found if _is_of_tensors(file, divided) else ()
    for node in file.nodes(ast.AugAssign):
        if isinstance(node.op, ast.Add) and _may_be_constant(node.value):
            yield from [node.value] if _is_of_tensors(file, node) else ()


def _added(node: ast.expr) -> Iterator[ast.expr]:
    """`1e-8` of `x + 1e-8`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from (side for side in (node.left, node.right) if _may_be_constant(side))


def _may_be_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or (
        isinstance(node, ast.Name) and ("eps" in node.id.lower() or node.id.isupper())
    )


def _is_of_tensors(file: File, node: ast.AST) -> bool:
    """Whether the code around a division is TensorFlow's, and none of NumPy."""
    around = file.function(node) or file.statement(node)
    names = {called(file, one) or "" for one in file.inside(around, ast.Call)}
    return any(map(is_tensorflow, names)) and not any(
        name.partition(".")[0] in ("numpy", "math", "scipy") for name in names
    )


def _is_tiny(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, float)
        and 0 < node.value < _SMALLEST
    )
