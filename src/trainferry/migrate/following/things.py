"""What an expression can be, as far as it is followed."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from trainferry.migrate.following.flow import Function, Place
from trainferry.migrate.naming.modules import Place as ModulePlace
from trainferry.migrate.read import Source

Origin: TypeAlias = tuple[Source, ast.expr]


class Value(NamedTuple):
    """An object of a class of a library; no origin where only its class is known."""

    family: str
    origin: Origin | None


class Method(NamedTuple):
    """A method of an object of a library's class, not called yet."""

    family: str
    name: str


class Library(NamedTuple):
    """A function, class or module of a library."""

    name: str
    origin: Origin


class Module(NamedTuple):
    """A module of the project, or several that an import can mean."""

    places: tuple[ModulePlace, ...]


class OwnClass(NamedTuple):
    """A class of the project."""

    node: ast.ClassDef
    place: Place


class Instance(NamedTuple):
    """An object of a class of the project; of a class below it too unless `is_exact`."""

    node: ast.ClassDef
    place: Place
    is_exact: bool
    origin: Origin | None


class Super(NamedTuple):
    """`super()` in a method of a class."""

    node: ast.ClassDef
    place: Place


class OwnFunction(NamedTuple):
    """A function of the project; `is_bound` where its first parameter is given already."""

    node: Function
    place: Place
    is_bound: bool


class OwnLambda(NamedTuple):
    """A lambda of the project."""

    node: ast.Lambda
    place: Place


class Partial(NamedTuple):
    """`functools.partial(function, …)`."""

    node: ast.Call
    place: Place


class Container(NamedTuple):
    """A tuple, list, set or dictionary as it is written."""

    node: ast.expr
    place: Place


class Generator(NamedTuple):
    """What calling a function with `yield` gives; `is_context` for use in `with`."""

    node: Function
    place: Place
    is_context: bool


class Unknown(NamedTuple):
    """Something that is not followed further; no origin where it is no expression."""

    origin: Origin | None


Thing: TypeAlias = (
    Value
    | Method
    | Library
    | Module
    | OwnClass
    | Instance
    | Super
    | OwnFunction
    | OwnLambda
    | Partial
    | Container
    | Generator
    | Unknown
)
Things: TypeAlias = tuple[Thing, ...]

NOT_KNOWN: Things = (Unknown(None),)
ABSENT: Things = (Unknown(None), Unknown(None))  # there is no such name
_MOST_THINGS = 60


def merged(some: Iterable[Things]) -> Things:
    """All things, each once."""
    found: dict[Thing, None] = {}
    for things in some:
        for thing in things:
            found[thing] = None
    return tuple(found) if len(found) <= _MOST_THINGS else NOT_KNOWN
