"""All that one pass over a file found, in the order of the text."""

from __future__ import annotations

import ast
import functools
from dataclasses import dataclass
from typing import TypeVar

from trainferry.migrate.naming.expressions import FINDERS, first_name
from trainferry.migrate.naming.scanned import Scanned
from trainferry.migrate.naming.scopes import Scope, Use


@dataclass(frozen=True, eq=False)
class FileScopes:
    """What one pass over a file found; uses and calls only of names that may be a library's."""

    module: Scope
    uses: tuple[Use, ...]
    calls: tuple[ast.Call, ...]
    scope_of: dict[ast.Name, Scope]
    exported: frozenset[str] | None  # `__all__`; None when there is none
    exports_are_known: bool
    scopes: tuple[Scope, ...]
    # What rules look at without asking for a name.
    attribute_calls: dict[str, tuple[ast.Call, ...]]  # every `….name(…)`, by name
    name_calls: dict[str, tuple[ast.Call, ...]]  # every `name(…)`, by name
    all_uses: tuple[Use, ...]  # of any name, in no order
    functions: tuple[ast.FunctionDef | ast.AsyncFunctionDef, ...]
    classes: tuple[ast.ClassDef, ...]
    imports: tuple[ast.Import | ast.ImportFrom, ...]
    stores: tuple[ast.Assign | ast.AugAssign | ast.AnnAssign, ...]  # to attributes and items

    @functools.cached_property
    def mentions(self) -> dict[str, tuple[ast.expr, ...]]:
        """Uses that are no calls, by their last names."""
        called = {call.func for calls in self.attribute_calls.values() for call in calls}
        called |= {call.func for calls in self.name_calls.values() for call in calls}
        found: dict[str, list[ast.expr]] = {}
        for node, _, _ in self.all_uses:
            if node not in called:
                found.setdefault(_last_name(node), []).append(node)
        return {name: tuple(nodes) for name, nodes in found.items()}


def gather(scanned: Scanned) -> FileScopes:
    """Put in order what was found, and leave out uses and calls that can be no library's."""
    libraries = {
        name
        for scope in scanned.scopes
        for name, bound in scope.bindings.items()
        if bound not in ((), (None,))
    }
    has_star = any(scope.stars for scope in scanned.scopes)

    def may_be_library(name: ast.Name | None) -> bool:
        return name is not None and (has_star or name.id in libraries or name.id in FINDERS)

    uses = [use for use in scanned.uses if may_be_library(use.name)]
    uses.sort(key=lambda use: (use.expression.lineno, use.expression.col_offset))
    exported = scanned.exports.names
    return FileScopes(
        module=scanned.module,
        uses=tuple(uses),
        calls=_in_order([call for call in scanned.calls if may_be_library(first_name(call.func))]),
        scope_of={use.name: use.scope for use in uses},
        exported=None if exported is None else frozenset(exported),
        exports_are_known=scanned.exports.are_known,
        scopes=tuple(scanned.scopes),
        attribute_calls=_by_attribute(scanned.calls),
        name_calls=_by_name(scanned.calls),
        all_uses=tuple(scanned.uses),
        functions=_in_order(scanned.functions),
        classes=_in_order(scanned.classes),
        imports=_in_order(scanned.imports),
        stores=_in_order(scanned.stores),
    )


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Call):  # getattr(x, "name")
        return str(getattr(node.args[1], "value", ""))
    return node.id if isinstance(node, ast.Name) else ""


_Node = TypeVar("_Node", bound=ast.stmt | ast.expr)


def _in_order(nodes: list[_Node]) -> tuple[_Node, ...]:
    return tuple(sorted(nodes, key=lambda one: (one.lineno, one.col_offset)))


def _by_attribute(calls: list[ast.Call]) -> dict[str, tuple[ast.Call, ...]]:
    found: dict[str, list[ast.Call]] = {}
    for call in calls:
        if isinstance(call.func, ast.Attribute):
            found.setdefault(call.func.attr, []).append(call)
    return {
        name: tuple(sorted(some, key=lambda call: (call.end_lineno or 0, call.end_col_offset or 0)))
        for name, some in found.items()
    }


def _by_name(calls: list[ast.Call]) -> dict[str, tuple[ast.Call, ...]]:
    found: dict[str, list[ast.Call]] = {}
    for call in calls:
        if isinstance(call.func, ast.Name):
            found.setdefault(call.func.id, []).append(call)
    return {name: tuple(some) for name, some in found.items()}
