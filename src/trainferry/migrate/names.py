"""Which library a name belongs to: `S` is `tf.Session` after `from tensorflow import Session as S`.

A name is known only when everything that may bind it agrees. What is not certain is None: a
name that is wrong would put a wrong edit into somebody's code.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence, Set

from trainferry.migrate.library import canonical_name, is_tensorflow
from trainferry.migrate.naming.expressions import first_name
from trainferry.migrate.naming.file_scopes import FileScopes
from trainferry.migrate.naming.modules import Own, Place
from trainferry.migrate.naming.resolve import Resolver
from trainferry.migrate.naming.scan import scan_scopes
from trainferry.migrate.naming.scopes import Scope
from trainferry.migrate.read import Source


def resolve_project(
    sources: Sequence[Source], folder: str = "", before: Names | None = None
) -> Names:
    """Scan all files of a project; their names can then be asked for.

    `folder` is the name of the project's folder. It matters when the folder is itself a package
    whose files import each other by it. Files that `before` knows are not scanned again.
    """
    return Names(sources, folder, before)


def tf_names(source: Source, names: Names) -> Iterator[tuple[ast.expr, str]]:
    """Find every TensorFlow name of a file, in its longest form, in the order of the text."""
    for expression in names.name_expressions(source):
        name = names.full_name(source, expression)
        if name is not None and is_tensorflow(name):
            yield expression, name


class Names:
    """The names of a project's files."""

    def __init__(self, sources: Sequence[Source], folder: str, before: Names | None) -> None:
        self._sources = tuple(sources)  # kept alive: files are looked up by identity
        known: dict[int, FileScopes] = {} if before is None else before._files
        self._files: dict[int, FileScopes] = {
            id(source): known.get(id(source))
            or scan_scopes(source.tree, list_variables_leak=source.python == 2)
            for source in sources
        }
        by_path = {source.path: self._files[id(source)] for source in sources}
        self._by_path = {source.path: source for source in sources}
        self._resolver = Resolver(by_path, folder)

    def full_name(self, source: Source, node: ast.expr) -> str | None:
        """Give the canonical library name of an expression like `a.b`; None when not certain."""
        scope = self._scope(source, node)
        target = None if scope is None else self._resolver.value(node, scope)
        return canonical_name(target) if isinstance(target, str) else None

    def possible_names(self, source: Source, node: ast.expr) -> frozenset[str]:
        """Give all library names that an expression may have where `full_name` is not certain.

        After `try: import horovod.tensorflow as hvd` and another `hvd` for those without it, no
        call may be edited, but the user must hear of it.
        """
        scope = self._scope(source, node)
        targets = [] if scope is None else self._resolver.possible_values(node, scope)
        names = {canonical_name(target) for target in targets if isinstance(target, str)}
        return frozenset(name for name in names if name is not None)

    def calls(self, source: Source) -> Sequence[ast.Call]:
        """All calls of a file that may be a library's, in the order of the text."""
        return self._files[id(source)].calls

    def name_expressions(self, source: Source) -> Iterator[ast.expr]:
        """All longest expressions of a name and its attributes that may be a library's."""
        return (use.expression for use in self._files[id(source)].uses)

    def uses(self, source: Source) -> Iterator[tuple[ast.expr, str | None]]:
        """The same with their full names; None for those that are not certain."""
        for use in self._files[id(source)].uses:
            target = self._resolver.value(use.expression, use.scope)
            yield use.expression, canonical_name(target) if isinstance(target, str) else None

    def top_name(self, source: Source, name: str) -> str | None:
        """Canonical library name of what `name` is at the top of a file; None when not certain."""
        target = self._resolver.value(
            ast.Name(id=name, ctx=ast.Load()), self._files[id(source)].module
        )
        return canonical_name(target) if isinstance(target, str) else None

    def bound_to(self, source: Source, name: str) -> list[str | None]:
        """What each scope of a file that binds `name` binds it to; None when not certain.

        Classes are left out: what they bind hides nothing from their methods.
        """
        return [
            canonical_name(target) if isinstance(target, str) else None
            for scope in self._files[id(source)].scopes
            if scope.kind != "class" and self._resolver.is_bound(name, scope)
            for target in [self._resolver.value(ast.Name(id=name, ctx=ast.Load()), scope)]
        ]

    def attribute_calls(self, source: Source, name: str) -> Sequence[ast.Call]:
        """All calls of the form `….name(…)`, whatever they call; inner ones first."""
        return self._files[id(source)].attribute_calls.get(name, ())

    def called_attributes(self, source: Source) -> Set[str]:
        """All names of calls of the form `….name(…)`."""
        return self._files[id(source)].attribute_calls.keys()

    def calls_named(self, source: Source) -> Iterator[tuple[str, Sequence[ast.Call]]]:
        """All calls of `name(…)` and `….name(…)`, by name."""
        file = self._files[id(source)]
        yield from file.name_calls.items()
        yield from file.attribute_calls.items()

    def mentions(self, source: Source) -> Mapping[str, Sequence[ast.expr]]:
        """Uses of any name and its attributes that are no calls, by their last names."""
        return self._files[id(source)].mentions

    def own_modules(self, source: Source, parts: Place, level: int) -> tuple[Place, ...]:
        """The project's modules that an import in a file can mean; none for a library's."""
        return self._resolver.own_modules(parts, level, source.path)

    def is_own_module(self, place: Place) -> bool:
        return self._resolver.is_own_module(place)

    def own_source(self, place: Place) -> Source | None:
        """The file of a module of the project; None for a folder, and for no module."""
        path = self._resolver.own_path(place)
        return None if path is None else self._by_path[path]

    def own_sources(self, source: Source, node: ast.expr) -> list[Source]:
        """The files of the project's module that an expression stands for; none for the rest."""
        scope = self._scope(source, node)
        target = None if scope is None else self._resolver.value(node, scope)
        places = target.places if isinstance(target, Own) else ()
        found = [self.own_source(place) for place in places]
        return [] if None in found else [one for one in found if one is not None]

    def functions(self, source: Source) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, ...]:
        return self._files[id(source)].functions

    def classes(self, source: Source) -> tuple[ast.ClassDef, ...]:
        return self._files[id(source)].classes

    def imports(self, source: Source) -> tuple[ast.Import | ast.ImportFrom, ...]:
        return self._files[id(source)].imports

    def stores(self, source: Source) -> tuple[ast.Assign | ast.AugAssign | ast.AnnAssign, ...]:
        """Assignments to attributes and items."""
        return self._files[id(source)].stores

    def _scope(self, source: Source, node: ast.expr) -> Scope | None:
        name = first_name(node)
        return None if name is None else self._files[id(source)].scope_of.get(name)
