"""Which library a name belongs to: `S` is `tf.Session` after `from tensorflow import Session as S`.

A name is known only when everything that may bind it agrees. What is not certain is None: a
name that is wrong would put a wrong edit into somebody's code.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from trainferry.migrate.library import canonical_name, is_tensorflow
from trainferry.migrate.read import Source
from trainferry.migrate.resolve import Resolver
from trainferry.migrate.scan import first_name, scan_scopes
from trainferry.migrate.scopes import Scope


def resolve_project(sources: Sequence[Source], folder: str = "") -> Names:
    """Scan all files of a project; their names can then be asked for.

    `folder` is the name of the project's folder. It matters when the folder is itself a package
    whose files import each other by it.
    """
    return Names(sources, folder)


def tf_names(source: Source, names: Names) -> Iterator[tuple[ast.expr, str]]:
    """Find every TensorFlow name of a file, in its longest form, in the order of the text."""
    for expression in names.name_expressions(source):
        name = names.full_name(source, expression)
        if name is not None and is_tensorflow(name):
            yield expression, name


class Names:
    """The names of a project's files."""

    def __init__(self, sources: Sequence[Source], folder: str) -> None:
        self._sources = tuple(sources)  # kept alive: files are looked up by identity
        self._files = {
            id(source): scan_scopes(source.tree, list_variables_leak=source.python == 2)
            for source in sources
        }
        by_path = {source.path: self._files[id(source)] for source in sources}
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

    def _scope(self, source: Source, node: ast.expr) -> Scope | None:
        name = first_name(node)
        return None if name is None else self._files[id(source)].scope_of.get(name)
