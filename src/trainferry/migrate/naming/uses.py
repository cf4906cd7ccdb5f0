"""Names, attributes and calls: where a file uses what its scopes bind."""

from __future__ import annotations

import ast

from trainferry.migrate.naming.expressions import first_name, is_getattr, is_plain
from trainferry.migrate.naming.scanned import Scanned
from trainferry.migrate.naming.scopes import Scope, Use


def visit_name(scanned: Scanned, node: ast.Name, scope: Scope) -> None:
    context = type(node.ctx)
    if context is ast.Load:
        scanned.uses.append(Use(node, node, scope))
    elif context is ast.Store:
        scope.bind(node.id, None)
    else:
        scope.own(node.id)


def visit_attribute(scanned: Scanned, node: ast.Attribute, scope: Scope) -> None:
    value = node.value
    while type(value) is ast.Attribute:
        value = value.value
    if type(value) is ast.Name:
        scanned.uses.append(Use(node, value, scope))
    elif type(value) is ast.Call and is_getattr(value):
        _add_call(scanned, value, node, scope)
    else:
        scanned.todo.append((value, scope))


def visit_call(scanned: Scanned, node: ast.Call, scope: Scope) -> None:
    _add_call(scanned, node, node, scope)


def _add_call(scanned: Scanned, node: ast.Call, outermost: ast.expr, scope: Scope) -> None:
    scanned.calls.append(node)
    todo = scanned.todo
    todo.append((node.func, scope))
    arguments = node.args
    if is_getattr(node):
        name = first_name(node)
        if name is not None and is_plain(arguments[0]):
            scanned.uses.append(Use(outermost, name, scope))
            arguments = arguments[1:]
    todo.extend([(argument, scope) for argument in arguments])
    todo.extend([(keyword.value, scope) for keyword in node.keywords])
