"""A file as a rule sees it: its calls with full names, what stands where, what a value is."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from trainferry.migrate.find import Call
from trainferry.migrate.names import Names
from trainferry.migrate.options import Options
from trainferry.migrate.read import Source
from trainferry.migrate.values import Values

Function = ast.FunctionDef | ast.AsyncFunctionDef
_Answer = TypeVar("_Answer")
_Node = TypeVar("_Node", bound=ast.AST)


class ProjectFiles:
    """All files of a project, with names and values resolved across them."""

    def __init__(
        self,
        sources: Sequence[Source],
        names: Names,
        options: Options,
        before: ProjectFiles | None = None,
    ) -> None:
        """`before`: the project before some of its sources changed."""
        self.sources = tuple(sources)
        self.names = names
        known = None if before is None else before.values
        self.values: Values = Values(sources, names, known)
        self.options = options
        self.files = tuple(File(source, self) for source in sources)
        self._by_source = {id(file.source): file for file in self.files}
        self._answers: dict[Callable[[ProjectFiles], Any], Any] = {}

    def file_of(self, source: Source) -> File:
        return self._by_source[id(source)]

    def once(self, ask: Callable[[ProjectFiles], _Answer]) -> _Answer:
        """Ask a question about the whole project once, and remember the answer."""
        if ask not in self._answers:
            self._answers[ask] = ask(self)
        answer: _Answer = self._answers[ask]
        return answer

    @functools.cached_property
    def used(self) -> frozenset[str]:
        """The full names that the project's files use."""
        return frozenset().union(*(file.used for file in self.files))

    @functools.cached_property
    def libraries(self) -> frozenset[str]:
        """First parts of the names that the project's files use, such as `tf` and `horovod`."""
        return frozenset(library for file in self.files for library in file.libraries)


class File:
    """One source and all that a rule may ask about it."""

    def __init__(self, source: Source, project: ProjectFiles) -> None:
        self.source = source
        self.project = project
        self.names = project.names
        self.options = project.options
        self._method_calls: dict[str, tuple[Call, ...]] = {}
        self._answers: dict[Callable[[File], Any], Any] = {}

    def once(self, ask: Callable[[File], _Answer]) -> _Answer:
        """Ask a question about the file once, and remember the answer."""
        if ask not in self._answers:
            self._answers[ask] = ask(self)
        answer: _Answer = self._answers[ask]
        return answer

    # What is called.

    @functools.cached_property
    def calls(self) -> tuple[Call, ...]:
        """All calls of known functions, in the order of the text."""
        return tuple(
            Call(self.source, node, name)
            for node in self.names.calls(self.source)
            if (name := self.full_name(node.func)) is not None
        )

    @functools.cached_property
    def libraries(self) -> frozenset[str]:
        """First parts of the names that the file uses."""
        return frozenset(name.partition(".")[0] for name in self.used)

    @functools.cached_property
    def used(self) -> frozenset[str]:
        """The full names that the file uses, each once."""
        return frozenset(name for _, name in self.uses)

    @functools.cached_property
    def uses(self) -> tuple[tuple[ast.expr, str], ...]:
        """All longest expressions with a full name, in the order of the text."""
        return tuple((node, name) for node, name in self._named.items() if name is not None)

    @functools.cached_property
    def _named(self) -> dict[ast.expr, str | None]:
        return dict(self.names.uses(self.source))

    def calls_of(self, *names: str) -> Iterator[Call]:
        """The calls of functions with these full names."""
        return (call for call in self.calls if call.name in names)

    def method_calls(self, method: str) -> tuple[Call, ...]:
        """Calls of `….method(…)` on a value whose class is known; the name has the class."""
        if method not in self._method_calls:
            self._method_calls[method] = tuple(
                Call(self.source, node, f"{owner}.{method}")
                for node in self.unresolved_calls(method)
                if isinstance(node.func, ast.Attribute)
                and (owner := self.class_of(node.func.value)) is not None
            )
        return self._method_calls[method]

    def unresolved_calls(self, method: str) -> Iterator[ast.Call]:
        """Calls of `….method(…)` that are no function of a library; what they are is open."""
        for node in self.names.attribute_calls(self.source, method):
            if self.full_name(node.func) is None:
                yield node

    # What things are.

    def full_name(self, node: ast.expr) -> str | None:
        """Canonical library name of a name with attributes; None when not certain."""
        if node in self._named:
            return self._named[node]
        return self.names.full_name(self.source, node)

    def class_of(self, node: ast.expr) -> str | None:
        """Canonical class of the value of an expression, such as `tf.data.Dataset`."""
        return self.project.values.class_of(self.source, node)

    def text(self, node: ast.AST) -> str:
        return self.source.text_of(node)

    # What stands where.

    @property
    def functions(self) -> tuple[Function, ...]:
        return self.names.functions(self.source)

    @property
    def classes(self) -> tuple[ast.ClassDef, ...]:
        return self.names.classes(self.source)

    @property
    def imports(self) -> tuple[ast.Import | ast.ImportFrom, ...]:
        return self.names.imports(self.source)

    @property
    def stores(self) -> tuple[ast.Assign | ast.AugAssign | ast.AnnAssign, ...]:
        """Assignments to attributes and items: `config.x = 1`, `os.environ["X"] = "1"`."""
        return self.names.stores(self.source)

    def nodes(self, kind: type[_Node]) -> Sequence[_Node]:
        """All nodes of a kind, such as `ast.Constant`, in the order of the text."""
        return self.source.nodes.of(kind)

    def inside(self, around: ast.AST, kind: type[_Node]) -> Iterator[_Node]:
        """The nodes of a kind in a function, class or other node, in the order of the text."""
        return self.source.nodes.inside(around, kind)

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self.source.nodes.parents.get(node)

    def parents(self, node: ast.AST) -> Iterator[ast.AST]:
        """All that a node stands in, from the inside."""
        above = self.parent(node)
        while above is not None:
            yield above
            above = self.parent(above)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The statement that a node stands in, or is."""
        if isinstance(node, ast.stmt):
            return node
        found = next((one for one in self.parents(node) if isinstance(one, ast.stmt)), None)
        assert found is not None, "a node stands in no statement"
        return found

    def function(self, node: ast.AST) -> Function | None:
        """The function that a node stands in; None at the top of the file."""
        return next((one for one in self.parents(node) if isinstance(one, Function)), None)

    def class_around(self, node: ast.AST) -> ast.ClassDef | None:
        return next((one for one in self.parents(node) if isinstance(one, ast.ClassDef)), None)
