"""The scopes of a project's files, made when first asked for, and what a name is in them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainferry.migrate.following.definitions import fill
from trainferry.migrate.following.flow import Definition, Frame, Function, Kind, Place, reaching
from trainferry.migrate.following.locate import way_to
from trainferry.migrate.names import Names
from trainferry.migrate.read import Source

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_DECLARATION = re.compile(rb"\b(?:global|nonlocal)\b([^\r\n]*(?:\\\r?\n[^\r\n]*)*)")


class Defined(NamedTuple):
    """A definition and the scope whose statement it is."""

    definition: Definition
    frame: Frame


class Frames:
    """Finds the scope of an expression, and the definitions that reach it."""

    def __init__(self, names: Names, before: Frames | None = None) -> None:
        """`before` has the scopes of sources that may be among these still."""
        self._names = names
        self._frames: dict[ast.AST, Frame] = before._frames if before else {}
        self._places: dict[ast.AST, Place] = before._places if before else {}
        self._declared: dict[tuple[Frame, str], list[Defined]] = before._declared if before else {}
        self._declared_names: dict[Source, frozenset[bytes]] = (
            before._declared_names if before else {}
        )

    def module(self, source: Source) -> Frame:
        found = self._frames.get(source.tree)
        if found is None:
            found = self._frames[source.tree] = fill(Frame(source, source.tree, None))
        return found

    def inner(self, node: ast.AST, place: Place) -> Frame:
        """The scope that a function, class, lambda or comprehension at a place makes."""
        found = self._frames.get(node)
        if found is None:
            found = self._frames[node] = fill(Frame(place.frame.source, node, place))
        return found

    def locate(self, source: Source, node: ast.AST) -> Place:
        """The scope and statement that a node stands in."""
        found = self._places.get(node)
        if found is None:
            found = self._places[node] = self._locate(source, node)
        return found

    def _locate(self, source: Source, node: ast.AST) -> Place:
        place = self.module(source).top()
        way = way_to(source.tree, node)
        for above, below in zip(way, [*way[1:], node], strict=True):
            if above in place.frame.places:
                place = place.frame.place_of(above)
            if _opens_scope(above, below):
                place = self.inner(above, place).top()
        if node in place.frame.places:
            place = place.frame.place_of(node)
        return place

    def parent(self, source: Source, node: ast.AST) -> ast.AST | None:
        """What a node stands directly in, keywords and other parts without value included."""
        way = way_to(source.tree, node)
        return way[-1] if way else None

    def reaching(self, name: str, place: Place) -> list[Defined] | None:
        """The definitions that a name can have at a place; None when nothing defines it."""
        later = False
        start = place.frame
        while True:
            frame = place.frame
            if name in frame.global_names:
                module = self.module(frame.source)
                return self._all(name, module) or None
            if (not frame.is_class or frame is start) and name not in frame.outer_names:
                own = frame.definitions.get(name, ())
                others = self._declared_inside(name, frame)
                if own or others:
                    found = reaching(own, place, later=later) if own else []
                    return [*(Defined(one, frame) for one in found), *others]
            if frame.parent is None:
                return None
            later = later or isinstance(frame.node, Function | ast.Lambda)
            place = frame.parent

    def _all(self, name: str, frame: Frame) -> list[Defined]:
        own = frame.definitions.get(name, ())
        found = [Defined(one, frame) for one in own if one.kind is not Kind.MERGED]
        return found + self._declared_inside(name, frame)

    def _declared_inside(self, name: str, frame: Frame) -> list[Defined]:
        """What functions give to a name of a scope around them, by `global` or `nonlocal`."""
        source = frame.source
        if source not in self._declared_names:
            found = _DECLARATION.findall(source.data)
            self._declared_names[source] = frozenset(re.findall(rb"\w+", b" ".join(found)))
        if name.encode() not in self._declared_names[source]:
            return []
        key = (frame, name)
        if key not in self._declared:
            self._declared[key] = []
            self._declared[key] = list(self._find_declared(name, frame))
        return self._declared[key]

    def _find_declared(self, name: str, frame: Frame) -> Iterator[Defined]:
        for function in self._names.functions(frame.source):
            inner = self.inner(function, self.locate(frame.source, function))
            is_global = name in inner.global_names and frame.parent is None
            if is_global or (name in inner.outer_names and _is_inside(inner, frame)):
                for one in inner.definitions.get(name, ()):
                    if one.kind is not Kind.MERGED:
                        yield Defined(one, inner)


def _is_inside(frame: Frame, other: Frame) -> bool:
    parent = frame.parent
    while parent is not None and parent.frame is not other:
        parent = parent.frame.parent
    return parent is not None


def _opens_scope(above: ast.AST, below: ast.AST) -> bool:
    if isinstance(above, Function | ast.ClassDef):
        return isinstance(below, ast.stmt)
    if isinstance(above, ast.Lambda):
        return below is above.body
    if isinstance(above, _COMPREHENSIONS):
        return below is not above.generators[0].iter
    return False


def method_frames(frames: Frames, body: Frame) -> Iterator[tuple[Frame, str]]:
    """The methods of a class, each with the name of its first parameter."""
    for found in body.definitions.values():
        for one in found:
            if one.kind is Kind.FUNCTION and isinstance(one.node, Function):
                first = first_parameter(one.node.args)
                if first is not None:
                    yield frames.inner(one.node, body.place(one)), first


def first_parameter(arguments: ast.arguments) -> str | None:
    placed: Sequence[ast.arg] = [*arguments.posonlyargs, *arguments.args]
    return placed[0].arg if placed else None
