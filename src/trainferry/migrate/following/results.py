"""What calls give, and what `with` gives for what they gave."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from trainferry.migrate.following.flow import Place, dotted
from trainferry.migrate.following.table import class_of_call, class_of_method, is_passing
from trainferry.migrate.following.things import (
    NOT_KNOWN,
    Container,
    Generator,
    Instance,
    Library,
    Method,
    Origin,
    OwnClass,
    OwnFunction,
    OwnLambda,
    Partial,
    Super,
    Thing,
    Things,
    Unknown,
    Value,
    merged,
)

if TYPE_CHECKING:
    from trainferry.migrate.following.follow import Follow

PROPERTIES = frozenset(("property", "cached_property", "lazy_property"))
# Decorators that leave what a function gives as it is.
_PLAIN = PROPERTIES | {
    *("abstractmethod", "add_arg_scope", "cache", "classmethod", "configurable", "deprecated"),
    *("estimator_export", "function", "keras_export", "lru_cache", "memoize", "override"),
    *("staticmethod", "tf_export", "wraps"),
}
_SAME_ITEMS = frozenset(("list", "tuple", "sorted", "reversed", "iter"))
_BUILT_IN = _SAME_ITEMS | {"super", "dict", "next"}


def decorators(function: OwnFunction) -> frozenset[str]:
    """The last parts of the names of a function's decorators."""
    found = set()
    for one in function.node.decorator_list:
        name = dotted(one.func if isinstance(one, ast.Call) else one) or "?"
        found.add(name.rpartition(".")[2])
    return frozenset(found)


class Results:
    """Follows calls to what they give."""

    def __init__(self, follow: Follow) -> None:
        self._follow = follow
        self._by_kind: dict[type, Callable[[Any, ast.Call, Place], Things]] = {
            Library: self._of_library,
            Method: self._of_method,
            OwnClass: self._of_class,
            OwnFunction: lambda thing, _node, _place: self.returned(thing),
            OwnLambda: self._of_lambda,
            Partial: self._of_partial,
            Instance: self._of_object,
        }

    def called(self, node: ast.Call, place: Place) -> Things:
        """What a call gives."""
        function = node.func
        name = function.id if isinstance(function, ast.Name) else ""
        if name in _BUILT_IN and self._follow.look_up(name, place) is None:
            return self._of_built_in(name, node, place)
        found = self._follow.things(function, place)
        return merged(self._result(thing, node, place) for thing in found)

    def _result(self, thing: Thing, node: ast.Call, place: Place) -> Things:
        of_kind = self._by_kind.get(type(thing))
        if of_kind is None:
            return (Unknown((place.frame.source, node)),)
        return of_kind(thing, node, place)

    def _of_library(self, thing: Library, node: ast.Call, place: Place) -> Things:
        origin = (place.frame.source, node)
        if is_passing(thing.name):
            return self._passed(thing.name, node, place)
        if thing.name == "functools.partial" and node.args:
            return (Partial(node, place),)
        family = class_of_call(thing.name)
        return (Unknown(origin) if family is None else Value(family, origin),)

    def _passed(self, name: str, node: ast.Call, place: Place) -> Things:
        given = [*node.args, *(one.value for one in node.keywords if one.arg == "optimizer")]
        passed = self._follow.things(given[0], place) if given else NOT_KNOWN
        if name.startswith(("copy.", "contextlib.")):
            return passed
        origin = (place.frame.source, node)
        families = [self._follow.classes.family_of(one) for one in passed]
        return merged([(Value(one, origin) if one else Unknown(origin),) for one in families])

    def _of_method(self, thing: Method, node: ast.Call, place: Place) -> Things:
        if not thing.family:
            assert isinstance(node.func, ast.Attribute)
            return self._follow.containers.method_result(node.func, place)
        origin = (place.frame.source, node)
        family = class_of_method(thing.family, thing.name)
        return (Unknown(origin) if family is None else Value(family, origin),)

    def _of_class(self, thing: OwnClass, node: ast.Call, place: Place) -> Things:
        return (Instance(thing.node, thing.place, True, (place.frame.source, node)),)

    def _of_lambda(self, thing: OwnLambda, _node: ast.Call, _place: Place) -> Things:
        inner = self._follow.frames.inner(thing.node, thing.place)
        return self._follow.things(thing.node.body, inner.top())

    def _of_partial(self, thing: Partial, node: ast.Call, place: Place) -> Things:
        given = self._follow.things(thing.node.args[0], thing.place)
        return merged(self._result(one, node, place) for one in given)

    def _of_object(self, thing: Instance, node: ast.Call, place: Place) -> Things:
        found = self._follow.classes.member(thing, "__call__")
        if found is None:
            return (Unknown((place.frame.source, node)),)
        return merged(self._result(one, node, place) for one in found)

    def _of_built_in(self, name: str, node: ast.Call, place: Place) -> Things:
        found: Things = NOT_KNOWN
        if name == "super":
            around = self._follow.classes.around(place)
            found = NOT_KNOWN if around is None else (Super(*around),)
        elif name == "dict" and not node.args:
            found = (Container(node, place),)
        elif name == "next" and node.args:
            found = self._follow.containers.element(node.args[0], place, ())
        elif name in _SAME_ITEMS and len(node.args) == 1:
            found = self._follow.things(node.args[0], place)
        return found

    # The project's functions.

    def returned(self, function: OwnFunction) -> Things:
        """What calling a function of the project gives."""
        return self._follow.questions.ask(
            ("returned", function.node), lambda: self._returned(function)
        )

    def _returned(self, function: OwnFunction) -> Things:
        found = decorators(function)
        frame = self._follow.frames.inner(function.node, function.place)
        is_context = "contextmanager" in found
        is_plain = found - {"contextmanager"} <= _PLAIN
        if isinstance(function.node, ast.AsyncFunctionDef) or not is_plain:
            return NOT_KNOWN
        if frame.yielded or is_context:
            return (Generator(function.node, function.place, is_context),)
        return merged(
            self._follow.things(value, frame.place_of(statement))
            for value, statement in frame.returned
        )

    def yielded(self, generator: Generator) -> Things:
        """What a function gives one by one."""
        frame = self._follow.frames.inner(generator.node, generator.place)
        return merged(
            self._follow.things(value, frame.place_of(statement))
            for value, statement in frame.yielded
        )

    # With.

    def entered(self, node: ast.expr, place: Place) -> Things:
        """What `with node as` gives."""
        origin = (place.frame.source, node)
        return merged(self._entered(one, origin) for one in self._follow.things(node, place))

    def _entered(self, thing: Thing, origin: Origin) -> Things:
        if isinstance(thing, Generator) and thing.is_context:
            return self.yielded(thing)
        if isinstance(thing, Instance):
            own = self._follow.classes.member(thing, "__enter__")
            if own is not None:
                return merged(
                    self.returned(one) if isinstance(one, OwnFunction) else NOT_KNOWN for one in own
                )
        family = self._follow.classes.family_of(thing)
        gives_itself = family is not None and class_of_method(family, "__enter__") == family
        return (thing,) if gives_itself else (Unknown(origin),)
