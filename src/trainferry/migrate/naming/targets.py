"""What a name can stand for, and when several answers agree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import TypeAlias

from trainferry.migrate.library import canonical_name
from trainferry.migrate.naming.modules import Own, Place


class Mark(Enum):
    """An answer that is no target."""

    ABSENT = "not bound here"
    CYCLE = "what is being asked for just now, which adds nothing to itself"
    MAYBE = "a star import may bind it"


# The path of something in a library, a module of the project, or None: something else, or not
# certain.
Target: TypeAlias = str | Own | Mark | None


def agreed_places(places: Iterable[Place], ask: Callable[[Place], Target]) -> Target:
    """Ask all modules that an import can mean; their own modules are kept side by side."""
    targets = [ask(place) for place in places]
    if all(isinstance(target, Own) for target in targets):
        found = [place for target in targets if isinstance(target, Own) for place in target.places]
        return Own(tuple(dict.fromkeys(found)))
    return agreed(targets)


def agreed(targets: Iterable[Target]) -> Target:
    """Give the target that all targets are; None when they differ."""
    first: Target = Mark.CYCLE
    for target in targets:
        if first is Mark.CYCLE:
            first = target
        elif target is not Mark.CYCLE and not _is_same(first, target):
            return None
    return first


def _is_same(one: Target, other: Target) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return one == other or canonical_name(one) == canonical_name(other) is not None
    return one == other
