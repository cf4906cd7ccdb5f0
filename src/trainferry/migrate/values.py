"""What a value is: the class behind an expression, followed through the project's code.

    values.class_of(source, node)  # "tf.data.Dataset" for `ds` in `ds.batch(8)`

A class is told only when everything that can reach the place agrees. What nobody in the
project calls, and what comes from a library that is not known, is None.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from trainferry.migrate.following.flow import Function
from trainferry.migrate.following.follow import Follow
from trainferry.migrate.following.table import CLASSES
from trainferry.migrate.following.things import (
    Instance,
    Library,
    OwnFunction,
    Partial,
    Thing,
    Things,
    Unknown,
    Value,
)
from trainferry.migrate.names import Names
from trainferry.migrate.read import Source

__all__ = ["CLASSES", "Values"]


class Values:
    """Answers what class the value of an expression has."""

    def __init__(
        self, sources: Sequence[Source], names: Names, before: Values | None = None
    ) -> None:
        """`before`: the values of the project before some of its sources changed."""
        known = None if before is None else before._follow
        self._follow: Follow = Follow(sources, names, known)

    def class_of(self, source: Source, node: ast.expr) -> str | None:
        """Canonical class, such as `tf.data.Dataset`; None when not known for certain."""
        families = {self._family(one) for one in self._follow.things_at(source, node)}
        return families.pop() if len(families) == 1 else None

    def origins(self, source: Source, node: ast.expr) -> Sequence[tuple[Source, ast.expr]]:
        """The expressions that can give a value; none when they are not all known."""
        found = []
        for one in self._follow.things_at(source, node):
            origin = _origin(one)
            if origin is None:
                return ()
            found.append(origin)
        return tuple(dict.fromkeys(found))

    def function_of(self, source: Source, node: ast.expr) -> tuple[Source, Function] | None:
        """The project's function that an expression means, also as `functools.partial(it, …)`."""
        found = self._functions(self._follow.things_at(source, node))
        if len(found) != 1 or found[0] is None:
            return None
        return found[0].place.frame.source, found[0].node

    def callers(self, source: Source, function: Function) -> Sequence[tuple[Source, ast.Call]]:
        """The known calls of a function of the project."""
        own = OwnFunction(function, self._follow.frames.locate(source, function), False)
        sites, _ = self._follow.call_sites.sites(own)
        return tuple((site.source, site.call) for site in sites if not site.is_partial)

    def mentions(self, source: Source, function: Function) -> Sequence[tuple[Source, ast.expr]]:
        """Where a function of the project is used without a call, as in `input_fn=function`."""
        own = OwnFunction(function, self._follow.frames.locate(source, function), False)
        return tuple(self._follow.call_sites.mentions(own))

    def _family(self, thing: Thing) -> str | None:
        if isinstance(thing, Value):
            return thing.family
        if isinstance(thing, Instance):
            return self._follow.classes.family(thing.node, thing.place)
        return None

    def _functions(self, things: Things) -> list[OwnFunction | None]:
        found: list[OwnFunction | None] = []
        for one in things:
            if isinstance(one, Partial):
                found += self._functions(self._follow.things(one.node.args[0], one.place))
            else:
                found.append(one if isinstance(one, OwnFunction) else None)
        return found


def _origin(thing: Thing) -> tuple[Source, ast.expr] | None:
    if isinstance(thing, Value | Instance | Unknown | Library):
        return thing.origin
    node = getattr(thing, "node", None)
    place = getattr(thing, "place", None)
    return (place.frame.source, node) if place and isinstance(node, ast.expr) else None
