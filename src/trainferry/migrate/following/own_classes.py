"""The project's classes: what they are made of, and what an attribute of an object can be."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from trainferry.migrate.following.flow import Kind, Place, dotted
from trainferry.migrate.following.frames import Defined, method_frames
from trainferry.migrate.following.table import class_of_call
from trainferry.migrate.following.things import (
    ABSENT,
    Instance,
    Library,
    OwnClass,
    OwnFunction,
    Super,
    Thing,
    Things,
    Value,
    merged,
)
from trainferry.migrate.read import Source

if TYPE_CHECKING:
    from trainferry.migrate.following.follow import Follow


class OwnClasses:
    """Answers questions about the classes that the project defines."""

    def __init__(self, follow: Follow, sources: Sequence[Source]) -> None:
        self._follow = follow
        self._sources = sources
        self._by_base: dict[str, list[tuple[Source, ast.ClassDef]]] | None = None
        self._by_attribute: dict[str, list[tuple[Source, ast.Attribute, ast.expr]]] | None = None

    def around(self, place: Place) -> tuple[ast.ClassDef, Place] | None:
        """The class whose method a place is in."""
        at: Place | None = place
        while at is not None:
            node = at.frame.node
            if isinstance(node, ast.ClassDef) and at.frame.parent is not None:
                return node, at.frame.parent
            at = at.frame.parent
        return None

    def family(self, node: ast.ClassDef, place: Place) -> str | None:
        """The library's class that a class of the project is one of."""
        found = [
            family
            for one in self.line(OwnClass(node, place))
            for base in self._bases(one)
            if isinstance(base, Library) and (family := class_of_call(base.name)) is not None
        ]
        return found[0] if found else None

    def family_of(self, thing: Thing) -> str | None:
        """The library's class that a thing is an object of."""
        if isinstance(thing, Value):
            return thing.family
        return self.family(thing.node, thing.place) if isinstance(thing, Instance) else None

    def line(self, own: OwnClass) -> list[OwnClass]:
        """A class and those it is made from, nearest first."""
        found: dict[ast.ClassDef, OwnClass] = {own.node: own}
        todo = [own]
        while todo:
            for base in self._bases(todo.pop(0)):
                if isinstance(base, OwnClass) and base.node not in found:
                    found[base.node] = base
                    todo.append(base)
        return list(found.values())

    def below(self, own: OwnClass) -> list[OwnClass]:
        """The classes that are made from a class."""
        found: dict[ast.ClassDef, OwnClass] = {}
        todo = [own]
        while todo:
            above = todo.pop(0)
            for source, node in self._with_base(above.node.name):
                if node in found or node is own.node:
                    continue
                one = OwnClass(node, self._follow.frames.locate(source, node))
                if any(isinstance(b, OwnClass) and b.node is above.node for b in self._bases(one)):
                    found[node] = one
                    todo.append(one)
        return list(found.values())

    def _bases(self, own: OwnClass) -> Things:
        def find() -> Things:
            return merged(self._follow.things(base, own.place) for base in own.node.bases)

        return self._follow.questions.ask(("bases", own.node), find)

    def _with_base(self, name: str) -> list[tuple[Source, ast.ClassDef]]:
        if self._by_base is None:
            self._by_base = {}
            for source in self._sources:
                for node in self._follow.names.classes(source):
                    for base in node.bases:
                        last = (dotted(base) or "").rpartition(".")[2]
                        self._by_base.setdefault(last, []).append((source, node))
        return self._by_base.get(name, [])

    # Attributes.

    def member(self, thing: Instance | OwnClass | Super, name: str) -> Things | None:
        """What an attribute can be; None when no class of the project has it."""
        if isinstance(thing, Super):
            return self._ask(OwnClass(thing.node, thing.place), name, "super")
        own = OwnClass(thing.node, thing.place)
        if isinstance(thing, OwnClass):
            return self._ask(own, name, "class")
        return self._ask(own, name, "exact" if thing.is_exact else "any")

    def _ask(self, own: OwnClass, name: str, how: str) -> Things | None:
        found = self._follow.questions.ask(
            ("member", own.node, name, how), lambda: self._find(own, name, how)
        )
        return None if found == ABSENT else found

    def _find(self, own: OwnClass, name: str, how: str) -> Things:
        line = self.line(own)[1 if how == "super" else 0 :]
        below = [] if how in ("exact", "super") else self.below(own)
        defined = [one for one in line if self._in_body(one, name)][:1]
        defined += [one for one in below if self._in_body(one, name)]
        found = [
            self._follow.defined(one, name)
            for owner in defined
            for one in self._in_body(owner, name)
        ]
        for owner in [*line, *below]:
            found += [self._follow.defined(one, name) for one in self._set_by_methods(owner, name)]
        found += self._set_from_outside([*line, *below], name)
        return merged(found) if found else ABSENT

    def _in_body(self, own: OwnClass, name: str) -> list[Defined]:
        body = self._follow.frames.inner(own.node, own.place)
        found = body.definitions.get(name, ())
        return [Defined(one, body) for one in found if one.kind is not Kind.MERGED]

    def _set_by_methods(self, own: OwnClass, name: str) -> Iterator[Defined]:
        body = self._follow.frames.inner(own.node, own.place)
        for frame, first in method_frames(self._follow.frames, body):
            for one in frame.definitions.get(f"{first}.{name}", ()):
                if one.kind is not Kind.MERGED:
                    yield Defined(one, frame)

    def _set_from_outside(self, owners: list[OwnClass], name: str) -> Iterator[Things]:
        """`model.optimizer = …`, where `model` is an object of one of the classes."""
        nodes = {own.node for own in owners}
        for source, target, value in self._stores(name):
            place = self._follow.frames.locate(source, target)
            for thing in self._follow.things(target.value, place):
                if isinstance(thing, Instance) and thing.node in nodes:
                    yield self._follow.things(value, place)
                    break

    def _stores(self, name: str) -> list[tuple[Source, ast.Attribute, ast.expr]]:
        if self._by_attribute is None:
            self._by_attribute = {}
            for source in self._sources:
                for store in self._follow.names.stores(source):
                    targets = store.targets if isinstance(store, ast.Assign) else [store.target]
                    for one in targets:
                        if (
                            isinstance(one, ast.Attribute)
                            and store.value is not None
                            and not (isinstance(one.value, ast.Name) and one.value.id == "self")
                        ):
                            entry = (source, one, store.value)
                            self._by_attribute.setdefault(one.attr, []).append(entry)
        return self._by_attribute.get(name, [])

    def function_line(self, own: OwnClass, name: str) -> OwnFunction | None:
        """The method that a class has under a name, its own or one of those it is made from."""
        for one in self.line(own):
            for defined in self._in_body(one, name):
                for thing in self._follow.defined(defined, name):
                    if isinstance(thing, OwnFunction):
                        return thing
        return None
