"""Lexical scopes: what each name of a file is bound to, and the use of one.

Order of execution is not followed. A scope's name stands for all its bindings together; whoever
asks decides whether they agree.
"""

from __future__ import annotations

import ast
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
