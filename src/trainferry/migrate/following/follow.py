"""Follows expressions through the project to what they can be."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from trainferry.migrate.following.call_sites import CallSites
from trainferry.migrate.following.containers import Containers
from trainferry.migrate.following.flow import (
    Frame,
    Function,
    Kind,
    Place,
    dotted,
    is_settled,
    reaching,
)
from trainferry.migrate.following.frames import Defined, Frames
from trainferry.migrate.following.given import Given
from trainferry.migrate.following.own_classes import OwnClasses
from trainferry.migrate.following.questions import Questions
from trainferry.migrate.following.results import PROPERTIES, Results, decorators
from trainferry.migrate.following.table import (
    class_of_attribute,
)
from trainferry.migrate.following.things import (
    ABSENT,
    NOT_KNOWN,
    Container,
    Instance,
    Library,
    Method,
    Module,
    Origin,
    OwnClass,
    OwnFunction,
    OwnLambda,
    Super,
    Thing,
    Things,
    Unknown,
    Value,
    merged,
)
from trainferry.migrate.names import Names
from trainferry.migrate.naming.modules import Place as ModulePlace
from trainferry.migrate.read import Source

_ASKED = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
_LITERALS = (
    ast.Tuple,
    ast.List,
    ast.Set,
    ast.Dict,
    ast.ListComp,
    ast.SetComp,
    ast.GeneratorExp,
    ast.DictComp,
)


class Follow:
    """Answers what expressions can be; an answer without Unknown has everything."""

    def __init__(
        self, sources: Sequence[Source], names: Names, before: Follow | None = None
    ) -> None:
        self.names = names
        self.frames: Frames = Frames(names, None if before is None else before.frames)
        self.questions = Questions(NOT_KNOWN)
        self.classes = OwnClasses(self, sources)
        self.call_sites = CallSites(self, sources)
        self.given = Given(self)
        self.results = Results(self)
        self.containers = Containers(self)

    def things_at(self, source: Source, node: ast.expr) -> Things:
        if node in self.questions:
            return self.questions.known(node)
        return self.things(node, self.frames.locate(source, node))

    def things(self, node: ast.expr, place: Place) -> Things:
        """What an expression at a place can be; nothing for None."""
        if isinstance(node, _ASKED):
            return self.questions.ask(node, lambda: self._find(node, place))
        parts = _alternatives(node)
        if parts is not None:
            return merged(self.things(one, place) for one in parts)
        if isinstance(node, ast.Lambda):
            return (OwnLambda(node, place),)
        if isinstance(node, _LITERALS):
            return (Container(node, place),)
        return (Unknown((place.frame.source, node)),)

    def _find(self, node: ast.expr, place: Place) -> Things:
        if isinstance(node, ast.Call):
            return self.results.called(node, place)
        if isinstance(node, ast.Subscript):
            return self.containers.item(node, place)
        name = self.names.full_name(place.frame.source, node)
        if name is not None:
            return (Library(name, (place.frame.source, node)),)
        if isinstance(node, ast.Name):
            return self._named(node, place)
        assert isinstance(node, ast.Attribute)
        return self._attribute(node, place)

    # Names.

    def _named(self, node: ast.Name, place: Place) -> Things:
        found = self.look_up(node.id, place)
        return (Unknown((place.frame.source, node)),) if found is None else found

    def look_up(self, name: str, place: Place) -> Things | None:
        """What a name can be; None when nothing in the project defines it."""
        defined = self.frames.reaching(name, place)
        if defined is not None:
            return merged(self.defined(one, name) for one in defined)
        return self._from_stars(name, self.frames.module(place.frame.source))

    def _from_stars(self, name: str, module: Frame) -> Things | None:
        found = [
            self.member_of_module(own, name)
            for star in module.stars
            for own in self._own_modules(module.source, star)
        ]
        known = [one for one in found if one is not None]
        return merged(known) if known else None

    def defined(self, one: Defined, name: str) -> Things:
        """What a definition gives."""
        definition, frame = one
        node = definition.node
        place = frame.place(definition)
        found: Things = NOT_KNOWN
        match definition.kind:
            case Kind.ASSIGN if isinstance(node, ast.expr):
                found = self.containers.unpacked(self.things(node, place), definition.path)
            case Kind.ENTERED if isinstance(node, ast.expr):
                entered = self.results.entered(node, place)
                found = self.containers.unpacked(entered, definition.path)
            case Kind.ELEMENT if isinstance(node, ast.expr):
                found = self.containers.element(node, place, definition.path)
            case Kind.FUNCTION if isinstance(node, Function):
                found = (OwnFunction(node, place, False),)
            case Kind.CLASS if isinstance(node, ast.ClassDef):
                found = (OwnClass(node, place),)
            case Kind.IMPORT if isinstance(node, ast.Import | ast.ImportFrom):
                found = self._imported(node, name, frame.source)
            case Kind.PARAMETER if isinstance(node, ast.arg):
                found = self.questions.ask(node, lambda: self.given.parameter(node, frame))
        return found

    # Modules of the project.

    def _own_modules(self, source: Source, node: ast.ImportFrom) -> tuple[ModulePlace, ...]:
        parts = tuple(node.module.split(".")) if node.module else ()
        return self.names.own_modules(source, parts, node.level)

    def _imported(self, node: ast.Import | ast.ImportFrom, name: str, source: Source) -> Things:
        if isinstance(node, ast.ImportFrom):
            wanted = next(one.name for one in node.names if (one.asname or one.name) == name)
            places = self._own_modules(source, node)
            return self._in_modules(places, wanted)
        found: list[ModulePlace] = []
        for alias in node.names:
            parts = tuple(alias.name.split("."))
            if name == (alias.asname or parts[0]):
                dropped = 0 if alias.asname else len(parts) - 1
                places = self.names.own_modules(source, parts, 0)
                found += [place[: len(place) - dropped] for place in places]
        return (Module(tuple(dict.fromkeys(found))),) if found else NOT_KNOWN

    def _in_modules(self, places: Iterable[ModulePlace], name: str) -> Things:
        found = [self.member_of_module(place, name) for place in places]
        known = [one for one in found if one is not None]
        return merged(known) if known else NOT_KNOWN

    def member_of_module(self, place: ModulePlace, name: str) -> Things | None:
        source = self.names.own_source(place)
        if source is not None:
            frame = self.frames.module(source)
            if frame.definitions.get(name) or frame.stars:
                end = Place(frame, (), 1_000_000_000)
                found = self.questions.ask(
                    (source.tree, name), lambda: self.look_up(name, end) or ABSENT
                )
                if found != ABSENT:
                    return found
        inner = (*place, name)
        return (Module((inner,)),) if self.names.is_own_module(inner) else None

    # Attributes.

    def _attribute(self, node: ast.Attribute, place: Place) -> Things:
        key = dotted(node)
        own = None if key is None else place.frame.definitions.get(key)
        if own and key is not None and is_settled(own, place):
            here = reaching(own, place, later=False)
            return merged(self.defined(Defined(one, place.frame), key) for one in here)
        found = self.members(self.things(node.value, place), node.attr, (place.frame.source, node))
        if own and not _is_complete(found):
            written = [self.defined(Defined(one, place.frame), node.attr) for one in own]
            return merged([*written, found])
        return found

    def members(self, things: Things, name: str, origin: Origin) -> Things:
        return merged(self._member(thing, name, origin) for thing in things)

    def _member(self, thing: Thing, name: str, origin: Origin) -> Things:
        found: Things = (Unknown(origin),)
        match thing:
            case Value():
                found = _of_value(thing.family, name, origin)
            case Module():
                found = self._in_modules(thing.places, name)
            case Instance() | OwnClass() | Super():
                found = self._of_own(thing, name, origin)
            case Library():
                found = (Library(f"{thing.name}.{name}", origin),)
            case Container():
                found = (Method("", name),)
        return found

    def _of_own(self, thing: Instance | OwnClass | Super, name: str, origin: Origin) -> Things:
        found = self.classes.member(thing, name)
        if found is not None:
            return merged(self._taken(one, thing) for one in found)
        family = self.classes.family(thing.node, thing.place)
        if family is None or isinstance(thing, OwnClass):
            return (Unknown(origin),)
        return _of_value(family, name, origin)

    def _taken(self, thing: Thing, owner: Instance | OwnClass | Super) -> Things:
        """A function of a class, taken from an object or from the class."""
        if not isinstance(thing, OwnFunction) or not thing.place.frame.is_class:
            return (thing,)
        found = decorators(thing)
        if PROPERTIES & found and not isinstance(owner, OwnClass):
            return self.results.returned(thing)
        is_bound = "staticmethod" not in found and (
            not isinstance(owner, OwnClass) or "classmethod" in found
        )
        return (OwnFunction(thing.node, thing.place, is_bound),)


def _is_complete(things: Things) -> bool:
    return not any(isinstance(thing, Unknown) for thing in things)


def _of_value(family: str, name: str, origin: Origin) -> Things:
    """An attribute of an object of a library's class."""
    found = class_of_attribute(family, name)
    return (Method(family, name) if found is None else Value(found, origin),)


def _alternatives(node: ast.expr) -> list[ast.expr] | None:
    """The expressions whose value an expression has, one or the other; none for None."""
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        return node.values
    if isinstance(node, ast.NamedExpr):
        return [node.value]
    return [] if isinstance(node, ast.Constant) and node.value is None else None
