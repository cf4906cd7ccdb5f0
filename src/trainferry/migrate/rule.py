"""What a rule is: handlers that look at calls, names or files and say what they found.

A rule is a file of `rules/`; the file's name is the rule's name and its docstring the user's
page. Its handlers carry one of the decorators below. They return edits and write nothing.
"""

from __future__ import annotations

import enum
import functools
import importlib
import pkgutil
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from trainferry.migrate.edit import Edit
from trainferry.migrate.read import Source

if TYPE_CHECKING:
    import ast

    from trainferry.migrate.file import File, ProjectFiles
    from trainferry.migrate.find import Call


class Outcome(enum.Enum):
    """What became of a place in the code; the value is the sentence for the user."""

    CHANGED = "rewritten, same results"
    CHECK = "rewritten, results can differ: read the note"
    BY_HAND = "left as it was: do what the note says"


class Concern(enum.Enum):
    """Why it matters, from what stops a run to what is only untidy."""

    RUN = "needed to run on the NPU"
    RESULT = "needed for the same results"
    DISTRIBUTED = "needed on more than one device"
    PRECISION = "affects accuracy"
    SPEED = "affects speed"
    TIDY = "worth knowing"


class Located(Protocol):
    """A place in the code: a call, or a spot."""

    @property
    def source(self) -> Source: ...
    @property
    def node(self) -> ast.AST: ...


@dataclass(frozen=True)
class Spot:
    """Any node of a file, as the place of a finding."""

    source: Source
    node: ast.AST


@dataclass(frozen=True)
class Finding:
    """What a rule says about one place; edits belong to the file of the place.

    The edits of a finding are made together or not at all. `imports` are the statements that
    the new text needs, such as `from npu_bridge.estimator import npu_ops`; the pipeline puts
    them in the right place, once.
    """

    at: Located
    outcome: Outcome
    message: str
    edits: tuple[Edit, ...] = ()
    imports: tuple[str, ...] = ()
    concern: Concern | None = None  # where it is another one than the rule's


CallHandler: TypeAlias = "Callable[[Call, File], Iterator[Finding]]"
NameHandler: TypeAlias = "Callable[[Spot, str, File], Iterator[Finding]]"
FileHandler: TypeAlias = "Callable[[File], Iterator[Finding]]"
ProjectHandler: TypeAlias = "Callable[[ProjectFiles], Iterator[Finding]]"

_Handler = TypeVar("_Handler", bound=Callable[..., Any])


def on_call(*names: str) -> Callable[[_Handler], _Handler]:
    """Ask for calls by full name: `tf.Session`, `tf.data.Dataset.batch`, `horovod.tensorflow.*`.

    A method of a value is asked for by the class that `values.py` knows it by.
    """
    return _tag("calls", names)


def on_name(*names: str) -> Callable[[_Handler], _Handler]:
    """Ask for every use of a full name, called or not; `….*` for all below it."""
    return _tag("names", names)


def on_file(handler: FileHandler) -> FileHandler:
    """Ask for every file that imports a library we know."""
    return _tag("files", ("*",))(handler)


def on_project(handler: ProjectHandler) -> ProjectHandler:
    """Ask once, for the whole project."""
    return _tag("projects", ("*",))(handler)


def _tag(kind: str, names: tuple[str, ...]) -> Callable[[_Handler], _Handler]:
    def tag(handler: _Handler) -> _Handler:
        handler.__dict__.setdefault("asks_for", []).append((kind, names))
        return handler

    return tag


@dataclass(frozen=True)
class Rule:
    """One rule as users see it. `page` is its docstring."""

    name: str
    concern: Concern
    is_opt_in: bool
    is_lint: bool
    page: str
    handlers: tuple[tuple[str, tuple[str, ...], Callable[..., Iterator[Finding]]], ...]

    @property
    def title(self) -> str:
        return self.page.strip().partition("\n")[0].rstrip(".")


@functools.cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, by name."""
    from trainferry.migrate import rules

    modules = sorted(found.name for found in pkgutil.iter_modules(rules.__path__))
    return tuple(
        rule_of(importlib.import_module(f"{rules.__name__}.{name}"))
        for name in modules
        if not name.startswith("_")
    )


def rule_of(module: types.ModuleType) -> Rule:
    """Read a rule from its module: CONCERN, and if need be OPT_IN and LINT."""
    handlers = [
        (kind, names, value)
        for value in vars(module).values()
        if callable(value) and getattr(value, "__module__", "") == module.__name__
        for kind, names in getattr(value, "asks_for", ())
    ]
    return Rule(
        name=module.__name__.rpartition(".")[2],
        concern=module.CONCERN,
        is_opt_in=getattr(module, "OPT_IN", False),
        is_lint=getattr(module, "LINT", False),
        page=module.__doc__ or "",
        handlers=tuple(handlers),
    )


# Not found by a handler: the pipeline tells with it which imports it had to add.
IMPORT_RULE = Rule(
    name="npu_import",
    concern=Concern.RUN,
    is_opt_in=False,
    is_lint=False,
    page="""Import what the new code needs from the adapter.

Only the names that the file's own changes use, each once, behind TensorFlow's import; a file
that needs nothing from the adapter gets no import. The adapter's star import would bring 71
names, among them `os`, `util` and `session`.

    +from npu_bridge.estimator import npu_ops

By hand: a file that uses the name for something else is left as it is, and told.

Source: TF Adapter 1.15, npu_bridge/npu_init.py.
""",
    handlers=(),
)
