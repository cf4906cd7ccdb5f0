"""Lexical scopes: what each name of a file is bound to, and where names are used.

Order of execution is not followed. A scope's name stands for all its bindings together; whoever
asks decides whether they agree.
"""

from __future__ import annotations

import ast
import functools
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias


class ImportedModule(NamedTuple):
    """`import a.b` binds `a` (keeps 1 part), `import a.b as c` binds `a.b` (keeps all)."""

    parts: tuple[str, ...]
    keeps: int
    line: int


class ImportedName(NamedTuple):
    """`from ..a.b import name`."""

    parts: tuple[str, ...]
    level: int
    name: str
    line: int


class Assigned(NamedTuple):
    """`name = value`, where `value` may be a module, function or class of a library."""

    value: ast.expr
    scope: Scope
    line: int


class Star(NamedTuple):
    """`from ..a.b import *`."""

    parts: tuple[str, ...]
    level: int
    line: int


Binding: TypeAlias = ImportedModule | ImportedName | Assigned


class Scope:
    """A module, class, function or comprehension.

    `bindings` maps a name to all that bind it here. None among them is what no library can be: a
    parameter, a loop variable, a function of the project. There are none at all when the name
    belongs to this scope but is only set to None, deleted or annotated.
    """

    __slots__ = ("bindings", "kind", "module_names", "outer_names", "parent", "stars")

    def __init__(
        self, kind: Literal["module", "class", "function", "comprehension"], parent: Scope | None
    ) -> None:
        self.kind = kind
        self.parent = parent
        self.bindings: dict[str, tuple[Binding | None, ...]] = {}
        self.stars: list[Star] = []
        self.module_names: frozenset[str] = frozenset()  # declared `global`
        self.outer_names: frozenset[str] = frozenset()  # declared `nonlocal`

    def bind(self, name: str, binding: Binding | None) -> None:
        bound = self.bindings.get(name)
        if not bound:
            self.bindings[name] = _SOMETHING_ELSE if binding is None else (binding,)
        elif binding is not None or None not in bound:
            self.bindings[name] = (*bound, binding)

    def own(self, name: str) -> None:
        """Make `name` one of this scope without saying what it is."""
        self.bindings.setdefault(name, ())


_SOMETHING_ELSE = (None,)


class Use(NamedTuple):
    """The longest expression made of one name and attributes of it, and its scope."""

    expression: ast.expr
    name: ast.Name
    scope: Scope


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


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Call):  # getattr(x, "name")
        return str(getattr(node.args[1], "value", ""))
    return node.id if isinstance(node, ast.Name) else ""
