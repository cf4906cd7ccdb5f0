"""One pass over a file: its scopes, what each binds, and the names and calls that use them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeAlias

from trainferry.migrate.naming import bindings, nesting, uses
from trainferry.migrate.naming.file_scopes import FileScopes, gather
from trainferry.migrate.naming.scanned import Scanned
from trainferry.migrate.naming.scopes import Scope


def scan_scopes(tree: ast.Module, *, list_variables_leak: bool) -> FileScopes:
    """Scan a file; in Python 2 the variable of a list comprehension belongs to the function."""
    visitors = _PYTHON_2 if list_variables_leak else _VISITORS
    scanned = Scanned(tree)
    todo = scanned.todo
    while todo:
        node, scope = todo.pop()
        visit = visitors.get(type(node))
        if visit is None:
            scanned.visit_parts(node, scope)
        else:
            visit(scanned, node, scope)
    bindings.move_declared_names(scanned)
    return gather(scanned)


def _pass_by(_scanned: Scanned, _node: ast.AST, _scope: Scope) -> None:
    """A constant has no parts."""


_Visitor: TypeAlias = Callable[[Scanned, Any, Scope], None]
_VISITORS: dict[type[ast.AST], _Visitor] = {
    ast.AnnAssign: bindings.visit_annotated,
    ast.Assign: bindings.visit_assign,
    ast.AsyncFunctionDef: nesting.visit_function,
    ast.Attribute: uses.visit_attribute,
    ast.AugAssign: bindings.visit_augmented,
    ast.Call: uses.visit_call,
    ast.ClassDef: nesting.visit_class,
    ast.Constant: _pass_by,
    ast.DictComp: nesting.visit_comprehension,
    ast.ExceptHandler: bindings.visit_handler,
    ast.Expr: bindings.visit_statement,
    ast.FunctionDef: nesting.visit_function,
    ast.GeneratorExp: nesting.visit_comprehension,
    ast.Global: bindings.visit_global,
    ast.Import: bindings.visit_import,
    ast.ImportFrom: bindings.visit_import_from,
    ast.Lambda: nesting.visit_lambda,
    ast.ListComp: nesting.visit_comprehension,
    ast.MatchAs: bindings.visit_pattern,
    ast.MatchMapping: bindings.visit_pattern,
    ast.MatchStar: bindings.visit_pattern,
    ast.Name: uses.visit_name,
    ast.NamedExpr: bindings.visit_walrus,
    ast.Nonlocal: bindings.visit_nonlocal,
    ast.SetComp: nesting.visit_comprehension,
}
_PYTHON_2 = {kind: visit for kind, visit in _VISITORS.items() if kind is not ast.ListComp}
