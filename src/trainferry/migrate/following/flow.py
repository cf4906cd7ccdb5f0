"""Where names get their values: the definitions of a scope, and which of them reach a place."""

from __future__ import annotations

import ast
import enum
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from trainferry.migrate.read import Source

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


class Kind(enum.Enum):
    """How a definition gives its value."""

    ASSIGN = "the value of an expression"
    ELEMENT = "an element of the value of an expression"
    ENTERED = "what `with` gives for an expression"
    PARAMETER = "what callers give"
    FUNCTION = "a function"
    CLASS = "a class"
    IMPORT = "an import"
    MERGED = "all branches have defined it"
    OTHER = "not followed"


class Block(NamedTuple):
    """Statements that run together or not at all."""

    statement: ast.AST
    name: str
    is_loop: bool

    def excludes(self, other: Block) -> bool:
        """Whether only one of the two runs, as with the branches of `if`."""
        if self.statement is not other.statement or self.name == other.name:
            return False
        return isinstance(self.statement, ast.If | ast.Match) or (
            self.name.startswith("handler") and other.name.startswith("handler")
        )


class Definition(NamedTuple):
    """One thing that gives a name its value; `path` leads into a value that is unpacked."""

    kind: Kind
    node: ast.AST
    path: tuple[int | None, ...]
    blocks: tuple[Block, ...]
    order: int
    since: int  # what comes before is over after it


class Place(NamedTuple):
    """Where an expression stands; `order` counts the statements of the scope."""

    frame: Frame
    blocks: tuple[Block, ...]
    order: int


class Frame:
    """A scope: a module, class, function, lambda or comprehension.

    `definitions` has names, attributes of names as `self.x`, and items as `x[]`.
    """

    __slots__ = (
        "definitions",
        "global_names",
        "node",
        "outer_names",
        "parent",
        "places",
        "returned",
        "source",
        "stars",
        "yielded",
    )

    def __init__(self, source: Source, node: ast.AST, parent: Place | None) -> None:
        self.source = source
        self.node = node
        self.parent = parent
        self.definitions: dict[str, list[Definition]] = {}
        self.places: dict[ast.AST, tuple[tuple[Block, ...], int]] = {}
        self.global_names: set[str] = set()
        self.outer_names: set[str] = set()
        self.stars: list[ast.ImportFrom] = []
        self.returned: list[tuple[ast.expr, ast.stmt]] = []
        self.yielded: list[tuple[ast.expr, ast.stmt]] = []

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, ast.ClassDef)

    def place_of(self, statement: ast.AST) -> Place:
        blocks, order = self.places.get(statement, ((), 0))
        return Place(self, blocks, order)

    def top(self) -> Place:
        return Place(self, (), 0)

    def place(self, definition: Definition) -> Place:
        return Place(self, definition.blocks, definition.order)


def reaching(definitions: Sequence[Definition], place: Place, *, later: bool) -> list[Definition]:
    """Those definitions that can be the last before a place.

    `later`: the place runs at some time after it was passed, as the body of a function does.
    """
    blocks, order = place.blocks, place.order
    last: Definition | None = None
    for one in definitions:
        comes_before = one.order < order and one.blocks == blocks[: len(one.blocks)]
        if comes_before and (last is None or one.order > last.order):
            last = one
    since = -1 if last is None else last.since
    kept = () if last is None else last.blocks
    loops = [block for block in blocks[len(kept) :] if block.is_loop]
    found = [
        one
        for one in definitions
        if one.kind is not Kind.MERGED
        and (
            (since <= one.order < order and not _excluded(one.blocks, blocks))
            or (later and one.order >= order)
            or any(loop in one.blocks for loop in loops)
        )
    ]
    return found or [one for one in definitions if one.kind is not Kind.MERGED]


def is_settled(definitions: Sequence[Definition], place: Place) -> bool:
    """Whether one of these certainly comes before a place."""
    return any(
        one.order < place.order and one.blocks == place.blocks[: len(one.blocks)]
        for one in definitions
    )


def _excluded(one: tuple[Block, ...], other: tuple[Block, ...]) -> bool:
    for mine, yours in zip(one, other, strict=False):
        if mine != yours:
            return mine.excludes(yours)
    return False


def dotted(node: ast.expr) -> str | None:
    """`a`, `a.b` and so on as text."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)]) if parts else node.id
