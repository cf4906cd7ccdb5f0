"""Functions, classes and comprehensions: the scopes inside a scope."""

from __future__ import annotations

import ast

from trainferry.migrate.naming.scanned import Scanned
from trainferry.migrate.naming.scopes import Scope


def visit_function(
    scanned: Scanned, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope
) -> None:
    scanned.functions.append(node)
    scope.bind(node.name, None)
    scanned.visit_all(node.decorator_list, scope)
    scope = _enter_type_parameters(scanned, node, scope)
    inner = _enter_parameters(scanned, node.args, scope)
    scanned.visit_all([node.returns], scope)
    scanned.visit_all(node.body, inner)


def visit_lambda(scanned: Scanned, node: ast.Lambda, scope: Scope) -> None:
    scanned.todo.append((node.body, _enter_parameters(scanned, node.args, scope)))


def visit_class(scanned: Scanned, node: ast.ClassDef, scope: Scope) -> None:
    scanned.classes.append(node)
    scope.bind(node.name, None)
    scanned.visit_all(node.decorator_list, scope)
    scope = _enter_type_parameters(scanned, node, scope)
    scanned.visit_all([*node.bases, *node.keywords], scope)
    scanned.visit_all(node.body, scanned.enter("class", scope))


def visit_comprehension(
    scanned: Scanned,
    node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
    scope: Scope,
) -> None:
    inner = scanned.enter("comprehension", scope)
    first, *others = node.generators
    # The first iterable is evaluated outside; a class is visible there and not further in.
    scanned.todo.append((first.iter, scope))
    scanned.visit_all([first.target, *first.ifs, *others], inner)
    results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    scanned.visit_all(results, inner)


def _enter_parameters(scanned: Scanned, arguments: ast.arguments, scope: Scope) -> Scope:
    inner = scanned.enter("function", scope)
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    parameters += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    for parameter in parameters:
        inner.bind(parameter.arg, None)
    # Defaults and annotations are evaluated outside the function.
    scanned.visit_all([parameter.annotation for parameter in parameters], scope)
    scanned.visit_all([*arguments.defaults, *arguments.kw_defaults], scope)
    return inner


def _enter_type_parameters(scanned: Scanned, node: ast.AST, scope: Scope) -> Scope:
    parameters: list[ast.AST] = getattr(node, "type_params", [])  # Python 3.12
    if not parameters:
        return scope
    inner = scanned.enter("function", scope)
    for parameter in parameters:
        inner.bind(getattr(parameter, "name", ""), None)
    scanned.visit_all(parameters, inner)
    return inner
