"""What is in tuples, lists and dictionaries."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from trainferry.migrate.following.flow import Kind, Place, dotted
from trainferry.migrate.following.frames import Defined
from trainferry.migrate.following.things import (
    NOT_KNOWN,
    Container,
    Generator,
    Thing,
    Things,
    Unknown,
    merged,
)

if TYPE_CHECKING:
    from trainferry.migrate.following.follow import Follow

Path = tuple[int | None, ...]
_ANY = object()  # a key that is not written out


class Containers:
    """Follows values into and out of containers."""

    def __init__(self, follow: Follow) -> None:
        self._follow = follow

    def item(self, node: ast.Subscript, place: Place) -> Things:
        """What `container[key]` gives."""
        index = node.slice
        if isinstance(index, ast.Slice):
            return (Unknown((place.frame.source, node)),)
        found = self._follow.things(node.value, place)
        key = index.value if isinstance(index, ast.Constant) else None
        stored = self._stored(node.value, place)
        if stored is None and isinstance(key, int):
            return self.unpacked(found, (key,))
        inside = [self._inside(one, key) for one in found]
        return merged([*inside, *(stored or [])])

    def element(self, node: ast.expr, place: Place, path: Path) -> Things:
        """What a loop over an expression gives, unpacked."""
        if isinstance(node, ast.Call):
            looped = _looped(node, path)
            if looped is not None:
                return self.element(looped, place, path[1:])
            if isinstance(node.func, ast.Attribute) and node.func.attr in ("items", "values"):
                if node.func.attr == "items":
                    is_value = path[:1] == (1,)
                    path = path[1:]
                else:
                    is_value = True
                return self.element_value(node.func.value, place, path) if is_value else NOT_KNOWN
        return self.element_value(node, place, path)

    def element_value(self, node: ast.expr, place: Place, path: Path) -> Things:
        """What is in a container, unpacked."""
        found = [self._inside(one, None) for one in self._follow.things(node, place)]
        stored = self._stored(node, place) or []
        return self.unpacked(merged([*found, *stored]), path)

    def method_result(self, function: ast.Attribute, place: Place) -> Things:
        """What `container.method(…)` gives."""
        if function.attr in ("get", "pop", "popleft", "setdefault"):
            return self.element_value(function.value, place, ())
        return NOT_KNOWN

    def unpacked(self, things: Things, path: Path) -> Things:
        """Go into values that are unpacked into several names."""
        for index in path:
            things = merged(self._at(one, index) for one in things)
        return things

    def _at(self, thing: Thing, index: int | None) -> Things:
        if isinstance(thing, Container) and isinstance(thing.node, ast.Tuple | ast.List):
            parts = thing.node.elts
            has_star = any(isinstance(one, ast.Starred) for one in parts)
            if index is not None and not has_star and -len(parts) <= index < len(parts):
                return self._follow.things(parts[index], thing.place)
            return NOT_KNOWN
        return self._inside(thing, None)

    def _inside(self, thing: Thing, key: object) -> Things:
        """All that a container holds, or what it holds under a key."""
        if isinstance(thing, Generator) and not thing.is_context:
            return self._follow.results.yielded(thing)
        if not isinstance(thing, Container):
            return NOT_KNOWN
        node = thing.node
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            has_star = any(isinstance(one, ast.Starred) for one in node.elts)
            found = [self._follow.things(one, thing.place) for one in node.elts]
            return NOT_KNOWN if has_star else merged(found)
        if isinstance(node, ast.Dict | ast.Call):
            return self._in_dictionary(_pairs(node), thing.place, key)
        inner = self._follow.frames.inner(node, thing.place).top()
        assert isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp)
        value = node.value if isinstance(node, ast.DictComp) else node.elt
        return self._follow.things(value, inner)

    def _in_dictionary(
        self, pairs: list[tuple[object, ast.expr]], place: Place, key: object
    ) -> Things:
        if any(one is None for one, _ in pairs):
            return NOT_KNOWN
        wanted = [value for one, value in pairs if key is None or one in (key, _ANY)]
        return merged(self._follow.things(value, place) for value in wanted)

    def _stored(self, node: ast.expr, place: Place) -> list[Things] | None:
        """What is put into a container after it was made."""
        name = dotted(node)
        if name is None:
            return None
        at: Place | None = place
        while at is not None:
            found = at.frame.definitions.get(f"{name}[]")
            if found:
                return [
                    self._follow.defined(Defined(one, at.frame), name)
                    for one in found
                    if one.kind is not Kind.MERGED
                ]
            at = at.frame.parent
        return None


def _pairs(node: ast.Dict | ast.Call) -> list[tuple[object, ast.expr]]:
    """The keys and values of `{…}` or `dict(…)`; None for the key of another dictionary."""
    if isinstance(node, ast.Call):
        return [(one.arg, one.value) for one in node.keywords]
    return [(_key(key), value) for key, value in zip(node.keys, node.values, strict=True)]


def _key(node: ast.expr | None) -> object:
    if node is None:
        return None
    return node.value if isinstance(node, ast.Constant) else _ANY


def _looped(node: ast.Call, path: Path) -> ast.expr | None:
    """The argument of `enumerate` or `zip` whose elements go where a path leads."""
    name = node.func.id if isinstance(node.func, ast.Name) else None
    if not path or path[0] is None:
        return None
    if name == "enumerate":
        return node.args[0] if node.args and path[0] == 1 else None
    return node.args[path[0]] if name == "zip" and path[0] < len(node.args) else None
