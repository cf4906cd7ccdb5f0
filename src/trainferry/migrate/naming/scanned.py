"""What the pass over a file has found so far, and what it has still to look at."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Literal

from trainferry.migrate.naming.exports import Exports
from trainferry.migrate.naming.scopes import Scope, Use
from trainferry.migrate.nodes import PARTS


class Scanned:
    """Filled by one function per kind of node, which also says what to visit next."""

    def __init__(self, tree: ast.Module) -> None:
        self.module = Scope("module", None)
        self.scopes = [self.module]
        self.uses: list[Use] = []
        self.calls: list[ast.Call] = []
        self.functions: list[ast.FunctionDef | ast.AsyncFunctionDef] = []
        self.classes: list[ast.ClassDef] = []
        self.imports: list[ast.Import | ast.ImportFrom] = []
        self.stores: list[ast.Assign | ast.AugAssign | ast.AnnAssign] = []
        self.exports = Exports()
        # A stack instead of recursion: generated code nests deeper than Python allows.
        self.todo: list[tuple[ast.AST, Scope]] = [(tree, self.module)]

    def enter(self, kind: Literal["class", "function", "comprehension"], parent: Scope) -> Scope:
        scope = Scope(kind, parent)
        self.scopes.append(scope)
        return scope

    def visit_all(self, nodes: Iterable[ast.AST | None], scope: Scope) -> None:
        self.todo.extend([(node, scope) for node in nodes if node is not None])

    def visit_parts(self, node: ast.AST, scope: Scope) -> None:
        todo = self.todo
        for part in PARTS[type(node)]:
            value = getattr(node, part, None)
            if isinstance(value, list):
                todo.extend([(item, scope) for item in value if isinstance(item, ast.AST)])
            elif isinstance(value, ast.AST):
                todo.append((value, scope))
