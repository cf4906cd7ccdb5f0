"""What a name was set to, as far as the function or class around it shows."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from trainferry.migrate.file import File


def set_values(file: File, node: ast.expr) -> list[ast.expr]:
    """All that `x` or `self.x` is set to nearby; the expression itself when it is no name."""
    if isinstance(node, ast.Name):
        inside = file.function(node)
        while inside is not None:
            if found := [*_assigned(file.inside(inside, ast.Assign), node)]:
                return found
            inside = file.function(inside)
        return [*_assigned(file.source.tree.body, node)]
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        around = file.class_around(node)
        return [] if around is None else [*_assigned(file.inside(around, ast.Assign), node)]
    return [node]


def _assigned(statements: Iterable[ast.stmt], name: ast.expr) -> Iterator[ast.expr]:
    for one in statements:
        if isinstance(one, ast.Assign) and any(_is_same(target, name) for target in one.targets):
            yield one.value


def _is_same(one: ast.expr, other: ast.expr) -> bool:
    """Whether both are `x`, or both `self.x`."""
    if isinstance(one, ast.Attribute) and isinstance(other, ast.Attribute):
        return one.attr == other.attr and _is_same(one.value, other.value)
    return isinstance(one, ast.Name) and isinstance(other, ast.Name) and one.id == other.id
