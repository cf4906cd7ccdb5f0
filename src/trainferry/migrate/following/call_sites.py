"""Who calls the project's functions, and who else may."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

from trainferry.migrate.following.flow import Place
from trainferry.migrate.following.things import OwnClass, OwnFunction, Partial
from trainferry.migrate.read import Source

if TYPE_CHECKING:
    from trainferry.migrate.following.follow import Follow

_HARMLESS = frozenset(("isinstance", "issubclass", "super", "type", "hasattr"))


class Site(NamedTuple):
    """A call of a function of the project; `skips` parameters are given by the object."""

    source: Source
    call: ast.Call
    place: Place
    skips: int
    is_partial: bool = False


class CallSites:
    """Finds calls by the names they are written with, then by what they really call."""

    def __init__(self, follow: Follow, sources: Sequence[Source]) -> None:
        self._follow = follow
        self._sources = sources
        self._calls: dict[str, list[tuple[Source, ast.Call]]] | None = None
        self._mentions: dict[str, list[tuple[Source, ast.expr]]] | None = None
        self._aliases: dict[str, set[str]] | None = None
        self._imported: dict[Source, set[str]] = {}

    # Calls.

    def sites(self, own: OwnFunction) -> tuple[tuple[Site, ...], bool]:
        """The known calls of a function, and whether there can be others."""
        found = self._follow.questions.ask(("sites", own.node), lambda: tuple(self._find(own)))
        sites = tuple(one for one in found if isinstance(one, Site))
        return sites, len(sites) < len(found)

    def _find(self, own: OwnFunction) -> Iterator[Site | None]:
        yield from self._calls_of(own)
        names = {own.node.name}
        if own.node.name == "__init__":
            names = {one.node.name for one in self._made_by(own)}
        for name in names:
            for source, node in self._mentions_of(name):
                yield from self._mentioned(own, source, node)

    def _calls_of(self, own: OwnFunction) -> Iterator[Site]:
        names = {own.node.name}
        if own.node.name == "__init__":
            names |= {one.node.name for one in self._made_by(own)}
        for name in names:
            for source, call in self._calls_named(name):
                if not self._can_call(source, call.func, own):
                    continue
                place = self._follow.frames.locate(source, call)
                for thing in self._follow.things(call.func, place):
                    skips = self._skips(thing, own)
                    if skips is not None:
                        yield Site(source, call, place, skips)
                        break

    def _can_call(self, source: Source, function: ast.expr, own: OwnFunction) -> bool:
        """Whether it is worth to look: another file must import what it calls."""
        if source is own.place.frame.source:
            return True
        root = function
        while isinstance(root, ast.Attribute):
            root = root.value
        is_method = own.place.frame.is_class and isinstance(function, ast.Attribute)
        if is_method or not isinstance(root, ast.Name):
            return True
        imported = self._imported_names(source)
        return root.id in imported or "*" in imported or root.id == "self"

    def _imported_names(self, source: Source) -> set[str]:
        if source not in self._imported:
            self._imported[source] = {
                alias.asname or alias.name.partition(".")[0]
                for node in self._follow.names.imports(source)
                for alias in node.names
            }
        return self._imported[source]

    def _skips(self, thing: object, own: OwnFunction) -> int | None:
        """How many parameters the object gives when `thing` is called; None if not `own`."""
        if isinstance(thing, OwnFunction) and thing.node is own.node:
            return int(thing.is_bound)
        if isinstance(thing, OwnClass) and own.node.name == "__init__":
            made = self._follow.classes.function_line(thing, "__init__")
            return 1 if made is not None and made.node is own.node else None
        return None

    def _made_by(self, own: OwnFunction) -> list[OwnClass]:
        around = self._follow.classes.around(own.place) if own.place.frame.is_class else None
        if around is None:
            return []
        return [OwnClass(*around), *self._follow.classes.below(OwnClass(*around))]

    def _mentioned(self, own: OwnFunction, source: Source, node: ast.expr) -> Iterator[Site | None]:
        """A use that is no call: somebody else may call the function, with what is not known."""
        place = self._follow.frames.locate(source, node)
        things = self._follow.things(node, place)
        if not any(self._skips(thing, own) is not None for thing in things):
            return
        above = self._follow.frames.parent(source, node)
        is_harmless = isinstance(above, ast.ClassDef | ast.ImportFrom | ast.Attribute)
        if not is_harmless and not _is_argument_of(above, _HARMLESS):
            call = above if isinstance(above, ast.Call) else None
            yield None if call is None else self._partial(call, node, place, source)

    def _partial(
        self, above: ast.Call, node: ast.expr, place: Place, source: Source
    ) -> Site | None:
        """The arguments that `functools.partial(node, …)` already gives."""
        is_first = above.args[:1] == [node]
        for thing in self._follow.things(above, place) if is_first else ():
            if isinstance(thing, Partial):
                given = ast.Call(func=node, args=above.args[1:], keywords=above.keywords)
                meant = self._follow.things(node, place)
                bound = [one.is_bound for one in meant if isinstance(one, OwnFunction)]
                return Site(source, ast.copy_location(given, above), place, int(any(bound)), True)
        return None

    def mentions(self, own: OwnFunction) -> Iterator[tuple[Source, ast.expr]]:
        """Where a function is used without a call, handed to somebody for example."""
        for source, node in self._mentions_of(own.node.name):
            place = self._follow.frames.locate(source, node)
            if any(self._skips(one, own) is not None for one in self._follow.things(node, place)):
                yield source, node

    # Indexes.

    def _calls_named(self, name: str) -> Iterator[tuple[Source, ast.Call]]:
        if self._calls is None:
            self._calls = {}
            for source in self._sources:
                for called, calls in self._follow.names.calls_named(source):
                    self._calls.setdefault(called, []).extend(zip(repeat(source), calls))
        for written in (name, *self._other_names(name)):
            yield from self._calls.get(written, ())

    def _mentions_of(self, name: str) -> Iterator[tuple[Source, ast.expr]]:
        if self._mentions is None:
            self._mentions = self._index_mentions()
        for written in (name, *self._other_names(name)):
            yield from self._mentions.get(written, ())

    def _index_mentions(self) -> dict[str, list[tuple[Source, ast.expr]]]:
        """Uses of the names of functions and classes that are no calls."""
        names = self._follow.names
        own = {one.name for source in self._sources for one in names.functions(source)}
        own |= {one.name for source in self._sources for one in names.classes(source)}
        own |= {alias for name in own for alias in self._other_names(name)}
        found: dict[str, list[tuple[Source, ast.expr]]] = {}
        for source in self._sources:
            mentions = names.mentions(source)
            for name in own & mentions.keys():
                found.setdefault(name, []).extend(zip(repeat(source), mentions[name]))
        return found

    def _other_names(self, name: str) -> set[str]:
        if self._aliases is None:
            self._aliases = {}
            for source in self._sources:
                for node in self._follow.names.imports(source):
                    for alias in node.names:
                        if alias.asname and isinstance(node, ast.ImportFrom):
                            self._aliases.setdefault(alias.name, set()).add(alias.asname)
        return self._aliases.get(name, set()) - {name}


def _is_argument_of(above: ast.AST | None, names: frozenset[str]) -> bool:
    return (
        isinstance(above, ast.Call) and isinstance(above.func, ast.Name) and above.func.id in names
    )
