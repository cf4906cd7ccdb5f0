"""The way from the top of a file down to one of its expressions, found by positions."""

from __future__ import annotations

import ast
import bisect

from trainferry.migrate.nodes import PARTS

_Span = tuple[int, int, int, int]


def way_to(tree: ast.Module, node: ast.AST) -> list[ast.AST]:
    """What a node stands in, from the file inwards, without the node.

    Nodes that have no position of their own, such as `arguments`, are left out.
    """
    if node is tree:
        return []
    span: _Span = node.lineno, node.col_offset, node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
    way: list[ast.AST] = []
    current: ast.AST | None = tree
    while current is not node:
        if current is None:
            return _slow_way(tree, node)
        way.append(current)
        current = _part_around(current, span, node)
    return way


def _part_around(node: ast.AST, span: _Span, wanted: ast.AST) -> ast.AST | None:
    for name in PARTS[type(node)]:
        part = getattr(node, name, None)
        if isinstance(part, list):
            if len(part) > 4 and isinstance(part[0], ast.stmt):
                index = bisect.bisect_right(part, span[:2], key=_point)
                part = part[max(index - 1, 0) : index + 1]  # decorators stand before a function
            for one in part:
                found = _if_around(one, span, wanted)
                if found is not None:
                    return found
        elif isinstance(part, ast.AST):
            found = _if_around(part, span, wanted)
            if found is not None:
                return found
    return None


def _if_around(node: ast.AST | None, span: _Span, wanted: ast.AST) -> ast.AST | None:
    if node is wanted:
        return node
    line = getattr(node, "lineno", None)
    if line is None:
        return _part_around(node, span, wanted) if isinstance(node, ast.AST) else None
    line, column, last_line, last_column = span
    if node.end_lineno < last_line or (  # type: ignore[union-attr]
        node.end_lineno == last_line and node.end_col_offset < last_column  # type: ignore[union-attr]
    ):
        return None
    decorators = getattr(node, "decorator_list", None)
    start_line, start_column = _point(decorators[0] if decorators else node)  # type: ignore[arg-type]
    is_before = start_line < line or (start_line == line and start_column <= column)
    return node if is_before else None


def _point(node: ast.AST) -> tuple[int, int]:
    return node.lineno, node.col_offset  # type: ignore[attr-defined]


def _slow_way(tree: ast.Module, node: ast.AST) -> list[ast.AST]:
    """Positions inside the texts of older Pythons are not to be trusted."""
    parents: dict[ast.AST, ast.AST] = {}
    for one in ast.walk(tree):
        for part in ast.iter_child_nodes(one):
            parents[part] = one
    way: list[ast.AST] = []
    while node in parents:
        node = parents[node]
        if hasattr(node, "lineno") or node is tree:
            way.append(node)
    return way[::-1]
