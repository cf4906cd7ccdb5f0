"""Expressions that name something: `a`, `a.b.c`, `getattr(a, "b").c`."""

from __future__ import annotations

import ast

# Functions that find something by a name that is given as a text.
FINDERS = frozenset(["getattr", "import_module", "__import__"])


def first_name(expression: ast.expr) -> ast.Name | None:
    """Give the name that an expression like `a.b.c` or `getattr(a, "b").c` starts with."""
    node = expression
    while True:
        if isinstance(node, ast.Name):
            return node
        if isinstance(node, ast.Attribute):
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.args[0] if is_getattr(node) else node.func
        else:
            return None


def is_getattr(node: ast.Call) -> bool:
    """Whether it is `getattr(x, "name")`, a default allowed."""
    return (
        isinstance(node.func, ast.Name)
        and node.func.id == "getattr"
        and len(node.args) in (2, 3)
        and not node.keywords
        and isinstance(node.args[1], ast.Constant)
        and isinstance(node.args[1].value, str)
    )


def is_plain(expression: ast.expr) -> bool:
    """Whether it is a name and attributes of it, and nothing else that would need a visit."""
    while isinstance(expression, ast.Attribute):
        expression = expression.value
    return isinstance(expression, ast.Name)


def split_attributes(expression: ast.expr) -> tuple[ast.expr, list[str]]:
    """Give `a` and ["b", "c"] for `a.b.c`."""
    attributes: list[str] = []
    while isinstance(expression, ast.Attribute):
        attributes.append(expression.attr)
        expression = expression.value
    attributes.reverse()
    return expression, attributes


def only_string(call: ast.Call) -> str | None:
    """The argument of a call that has just one, a text in quotes."""
    if len(call.args) != 1 or call.keywords or not isinstance(call.args[0], ast.Constant):
        return None
    value = call.args[0].value
    return value if isinstance(value, str) else None
