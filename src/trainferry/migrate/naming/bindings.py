"""Statements that bind names: assignments, imports, `except … as`, patterns, `global`."""

from __future__ import annotations

import ast

from trainferry.migrate.naming.expressions import FINDERS
from trainferry.migrate.naming.scanned import Scanned
from trainferry.migrate.naming.scopes import Assigned, ImportedModule, ImportedName, Scope, Star


def visit_assign(scanned: Scanned, node: ast.Assign, scope: Scope) -> None:
    if any(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets):
        scanned.stores.append(node)
    for target in node.targets:
        _bind_target(scanned, target, node.value, scope)
        if scope is scanned.module:
            scanned.exports.note(target, node.value, adds=False)
    scanned.todo.append((node.value, scope))


def visit_annotated(scanned: Scanned, node: ast.AnnAssign, scope: Scope) -> None:
    if isinstance(node.target, ast.Attribute | ast.Subscript):
        scanned.stores.append(node)
    if node.value is not None:
        _bind_target(scanned, node.target, node.value, scope)
        if scope is scanned.module:
            scanned.exports.note(node.target, node.value, adds=False)
    elif isinstance(node.target, ast.Name):
        scope.own(node.target.id)
    else:
        scanned.todo.append((node.target, scope))
    scanned.visit_all([node.annotation, node.value], scope)


def visit_augmented(scanned: Scanned, node: ast.AugAssign, scope: Scope) -> None:
    if isinstance(node.target, ast.Attribute | ast.Subscript):
        scanned.stores.append(node)
    if scope is scanned.module:
        scanned.exports.note(node.target, node.value, adds=True)
    scanned.visit_all([node.target, node.value], scope)


def visit_walrus(scanned: Scanned, node: ast.NamedExpr, scope: Scope) -> None:
    owner = scope
    while owner.kind == "comprehension" and owner.parent is not None:
        owner = owner.parent
    may_be = _may_be_library(node.value)
    owner.bind(node.target.id, Assigned(node.value, scope, node.lineno) if may_be else None)
    scanned.todo.append((node.value, scope))


def visit_statement(scanned: Scanned, node: ast.Expr, scope: Scope) -> None:
    if scope is scanned.module:
        scanned.exports.note_call(node.value)
    scanned.todo.append((node.value, scope))


def visit_import(scanned: Scanned, node: ast.Import, scope: Scope) -> None:
    scanned.imports.append(node)
    for alias in node.names:
        parts = tuple(alias.name.split("."))
        if alias.asname:
            scope.bind(alias.asname, ImportedModule(parts, len(parts), node.lineno))
        else:
            scope.bind(parts[0], ImportedModule(parts, 1, node.lineno))


def visit_import_from(scanned: Scanned, node: ast.ImportFrom, scope: Scope) -> None:
    scanned.imports.append(node)
    parts = tuple(node.module.split(".")) if node.module else ()
    for alias in node.names:
        if alias.name == "*":
            scope.stars.append(Star(parts, node.level, node.lineno))
        elif parts != ("__future__",):
            imported = ImportedName(parts, node.level, alias.name, node.lineno)
            scope.bind(alias.asname or alias.name, imported)


def visit_handler(scanned: Scanned, node: ast.ExceptHandler, scope: Scope) -> None:
    if node.name:
        scope.bind(node.name, None)
    scanned.visit_parts(node, scope)


def visit_pattern(
    scanned: Scanned, node: ast.MatchAs | ast.MatchStar | ast.MatchMapping, scope: Scope
) -> None:
    name = node.rest if isinstance(node, ast.MatchMapping) else node.name
    if name:
        scope.bind(name, None)
    scanned.visit_parts(node, scope)


def visit_global(scanned: Scanned, node: ast.Global, scope: Scope) -> None:
    if scope is not scanned.module:
        scope.module_names |= set(node.names)


def visit_nonlocal(_scanned: Scanned, node: ast.Nonlocal, scope: Scope) -> None:
    scope.outer_names |= set(node.names)


def move_declared_names(scanned: Scanned) -> None:
    """Give the bindings of names that are `global` or `nonlocal` to the scope they belong to."""
    for scope in scanned.scopes:
        for name in scope.module_names | scope.outer_names:
            if name not in scope.bindings:
                continue
            bound = scope.bindings.pop(name)
            owner = scanned.module if name in scope.module_names else _owner(scope, name)
            owner.own(name)
            for binding in bound:
                owner.bind(name, binding)


def _bind_target(scanned: Scanned, target: ast.expr, value: ast.expr, scope: Scope) -> None:
    if isinstance(target, ast.Name):
        if isinstance(value, ast.Constant) and value.value is None:
            # Nothing can be called or looked up on None: where the name is used, it is
            # what the other binding says (`except ImportError: hvd = None`).
            scope.own(target.id)
        else:
            may_be = _may_be_library(value)
            scope.bind(target.id, Assigned(value, scope, target.lineno) if may_be else None)
    elif (
        isinstance(target, ast.Tuple | ast.List)
        and isinstance(value, ast.Tuple | ast.List)
        and len(target.elts) == len(value.elts)
        and not any(isinstance(part, ast.Starred) for part in target.elts + value.elts)
    ):
        for part, part_value in zip(target.elts, value.elts, strict=True):
            _bind_target(scanned, part, part_value, scope)
    else:
        scanned.todo.append((target, scope))


def _may_be_library(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        called = value.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        return name in FINDERS
    if isinstance(value, ast.IfExp):
        return all(isinstance(one, ast.Name | ast.Attribute) for one in (value.body, value.orelse))
    if isinstance(value, ast.NamedExpr):
        return isinstance(value.value, ast.Name | ast.Attribute)
    return isinstance(value, ast.Name | ast.Attribute)


def _owner(scope: Scope, name: str) -> Scope:
    """Find the enclosing function that a `nonlocal` name belongs to."""
    outer = scope.parent
    while outer is not None and outer.parent is not None:
        if outer.kind == "function" and name in outer.bindings:
            return outer
        outer = outer.parent
    return scope  # not a valid program; the name stays unknown to others
