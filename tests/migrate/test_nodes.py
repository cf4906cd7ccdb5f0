"""The index of a tree finds what a walk over it finds."""

from __future__ import annotations

import ast

import pytest

from trainferry.migrate.nodes import Nodes, walk

_SIGNS = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
TEXT = """
import a.b as c

@c.decorated(lambda x: x + 1)
class One(c.Base, key=c.meta):
    y: int = 3

    @property
    def size(self, *rest, scale=(1, 2), **more) -> int:
        async def inner(): return [z for z in rest if z]
        return f"{self.y!r:>{scale}}" if inner() else {"k": None, **more}

def after(x): x += 1; return x
"""


@pytest.fixture
def tree() -> ast.Module:
    return ast.parse(TEXT)


def test_walk_goes_the_way_of_ast_walk_without_the_signs(tree: ast.Module) -> None:
    assert [*walk(tree)] == [one for one in ast.walk(tree) if not isinstance(one, _SIGNS)]


@pytest.mark.parametrize("kind", [ast.Name, ast.Call, ast.Assign, ast.Constant, ast.Return])
def test_the_nodes_inside_are_those_of_a_walk(tree: ast.Module, kind: type[ast.AST]) -> None:
    nodes = Nodes(tree)
    for around in [tree, *nodes.of(ast.ClassDef), *nodes.of(ast.FunctionDef)]:
        walked = {one for one in ast.walk(around) if type(one) is kind}
        assert set(nodes.inside(around, kind)) == walked


def test_nodes_of_a_kind_come_in_the_order_of_the_text(tree: ast.Module) -> None:
    lines = [one.lineno for one in Nodes(tree).of(ast.Name)]
    assert lines == sorted(lines)


def test_every_node_but_the_file_stands_in_another(tree: ast.Module) -> None:
    parents = Nodes(tree).parents
    assert set(parents) == {*walk(tree)} - {tree}
    assert all(part in [*ast.iter_child_nodes(above)] for part, above in parents.items())
