"""Computes small Python functions of one number from their text, to know what they are."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping

from trainferry.migrate.file import File, Function

_BINARY: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "add": operator.add,
    "cast": lambda value, *_: value,
    "constant": lambda value, *_: value,
    "convert_to_tensor": lambda value, *_: value,
    "erf": math.erf,
    "exp": math.exp,
    "identity": lambda value, *_: value,
    "multiply": operator.mul,
    "pow": operator.pow,
    "power": operator.pow,
    "sigmoid": lambda value: 1 / (1 + math.exp(-value)),
    "sqrt": math.sqrt,
    "square": lambda value: value * value,
    "tanh": math.tanh,
}


class NotAFormulaError(Exception):
    """The function does more than compute a number from one parameter."""


def value_at(function: Function, parameter: str, number: float, file: File) -> float:
    """What a function returns for `number`, when it only assigns, computes and returns."""
    known = {parameter: number}
    *assignments, last = without_docstring(function) or function.body
    for statement in assignments:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Name):
            raise NotAFormulaError
        known[target.id] = _value(statement.value, known, file)
    if not isinstance(last, ast.Return) or last.value is None:
        raise NotAFormulaError
    return _value(last.value, known, file)


def may_be_formula(function: Function) -> bool:
    """Whether a function only assigns and returns, as far as one can see at once."""
    *others, last = function.body
    return isinstance(last, ast.Return) and all(
        isinstance(one, ast.Assign | ast.Expr) for one in others
    )


def without_docstring(function: Function) -> list[ast.stmt]:
    has_text = ast.get_docstring(function, clean=False) is not None
    return function.body[1:] if has_text else function.body


def _value(node: ast.expr, known: Mapping[str, float], file: File) -> float:
    try:
        return _computed(node, known, file)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise NotAFormulaError from error


def _computed(node: ast.expr, known: Mapping[str, float], file: File) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if isinstance(node, ast.Name) and node.id in known:
        return known[node.id]
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        left, right = (_computed(one, known, file) for one in (node.left, node.right))
        return float(_BINARY[type(node.op)](left, right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_computed(node.operand, known, file)
    return _of_library(node, known, file)


def _of_library(node: ast.expr, known: Mapping[str, float], file: File) -> float:
    if isinstance(node, ast.Attribute) and node.attr == "pi" and _is_mathematical(node, file):
        return math.pi
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _called(node, node.func, known, file)
    raise NotAFormulaError


def _called(
    node: ast.Call, function: ast.Attribute, known: Mapping[str, float], file: File
) -> float:
    name = function.attr
    if name not in _FUNCTIONS or not _is_mathematical(function, file):
        raise NotAFormulaError
    numbers = node.args[:1] if name in ("cast", "constant", "convert_to_tensor") else node.args
    if any(keyword.arg not in ("name", "dtype") for keyword in node.keywords):
        raise NotAFormulaError
    return float(_FUNCTIONS[name](*(_computed(one, known, file) for one in numbers)))


def _is_mathematical(node: ast.Attribute, file: File) -> bool:
    """Whether it is TensorFlow's, NumPy's or of the module `math`."""
    if (file.full_name(node) or "").startswith("tf."):
        return True
    return isinstance(node.value, ast.Name) and any(
        alias.name in ("math", "numpy") and (alias.asname or alias.name) == node.value.id
        for statement in file.imports
        if isinstance(statement, ast.Import)
        for alias in statement.names
    )
