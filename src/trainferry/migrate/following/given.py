"""What a parameter is given: by callers, by its annotation, by TensorFlow."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from trainferry.migrate.following.arguments import argument_for, default_of, has_stars
from trainferry.migrate.following.call_sites import Site
from trainferry.migrate.following.flow import Frame, Function, Place, dotted
from trainferry.migrate.following.frames import first_parameter
from trainferry.migrate.following.results import decorators
from trainferry.migrate.following.table import class_of_call, class_of_parameter
from trainferry.migrate.following.things import (
    NOT_KNOWN,
    Instance,
    Library,
    OwnClass,
    OwnFunction,
    Thing,
    Things,
    Value,
    merged,
)

if TYPE_CHECKING:
    from trainferry.migrate.following.follow import Follow


class Given:
    """Answers what parameters can be."""

    def __init__(self, follow: Follow) -> None:
        self._follow = follow

    def parameter(self, node: ast.arg, frame: Frame) -> Things:
        """What a parameter can be: what its annotation says, or all that callers give."""
        function = frame.node
        if isinstance(function, ast.Lambda):
            return self._lambda_parameter(node, function, frame)
        assert isinstance(function, Function)
        assert frame.parent is not None
        own = OwnFunction(function, frame.parent, False)
        if frame.parent.frame.is_class and first_parameter(function.args) == node.arg:
            first = self._first_parameter(own)
            if first is not None:
                return first
        known = self._annotated(node.annotation, frame.parent) or self._overridden(own, node)
        return self._given(own, node.arg) if known is None else known

    def _overridden(self, own: OwnFunction, node: ast.arg) -> Things | None:
        """What TensorFlow gives to `before_run(self, run_context)` of a hook."""
        if not own.place.frame.is_class or node not in own.node.args.args:
            return None
        around = self._follow.classes.around(own.place)
        family = None if around is None else self._follow.classes.family(*around)
        position = own.node.args.args.index(node)
        given = family and class_of_parameter(family, own.node.name, position)
        return (Value(given, None),) if given else None

    def _first_parameter(self, own: OwnFunction) -> Things | None:
        found = decorators(own)
        if "staticmethod" in found:
            return None
        around = self._follow.classes.around(own.place)
        assert around is not None
        if "classmethod" in found or own.node.name in ("__new__", "__init_subclass__"):
            return (OwnClass(*around),)
        return (Instance(*around, False, None),)

    def _lambda_parameter(self, node: ast.arg, function: ast.Lambda, frame: Frame) -> Things:
        """`dataset.apply(lambda ds: …)`."""
        way = self._follow.frames.parent(frame.source, function)
        is_first = first_parameter(function.args) == node.arg
        if not (is_first and isinstance(way, ast.Call) and function in way.args[:1]):
            return NOT_KNOWN
        assert frame.parent is not None
        return self._applied(way, frame.parent)

    def _applied(self, call: ast.Call, place: Place) -> Things:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "apply":
            receiver = self._follow.things(call.func.value, place)
            families = {one.family for one in receiver if isinstance(one, Value)}
            if families == {"tf.data.Dataset"} and all(isinstance(o, Value) for o in receiver):
                return receiver
        return NOT_KNOWN

    def _annotated(self, node: ast.expr | None, place: Place) -> Things | None:
        """What an annotation says; None when it says nothing that is followed."""
        if isinstance(node, ast.BinOp):  # X | None
            is_none = isinstance(node.left, ast.Constant) and node.left.value is None
            return self._annotated(node.right if is_none else node.left, place)
        if isinstance(node, ast.Subscript):
            is_optional = (dotted(node.value) or "").rpartition(".")[2] == "Optional"
            return self._annotated(node.slice, place) if is_optional else None
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self._annotated_in_quotes(node.value, place)
        things = self._follow.things(node, place) if node is not None else ()
        return self._object_of(things[0]) if len(things) == 1 else None

    def _annotated_in_quotes(self, text: str, place: Place) -> Things | None:
        start, _, rest = text.partition(".")
        library = self._follow.names.top_name(place.frame.source, start)
        family = class_of_call(f"{library}.{rest}") if library and rest else None
        return None if family is None else (Value(family, None),)

    def _object_of(self, thing: Thing) -> Things | None:
        if isinstance(thing, OwnClass):
            return (Instance(thing.node, thing.place, False, None),)
        family = class_of_call(thing.name) if isinstance(thing, Library) else None
        return None if family is None else (Value(family, None),)

    def _given(self, own: OwnFunction, name: str) -> Things:
        sites, is_open = self._follow.call_sites.sites(own)
        if is_open or not sites:
            return NOT_KNOWN
        return merged(self._given_at(site, own, name) for site in sites)

    def _given_at(self, site: Site, own: OwnFunction, name: str) -> Things:
        given = argument_for(site.call, own.node, name, site.skips)
        if given is not None:
            return self._follow.things(given, site.place)
        default = default_of(own.node, name)
        if default is None or site.is_partial or has_stars(site.call):
            return NOT_KNOWN
        return self._follow.things(default, own.place)
