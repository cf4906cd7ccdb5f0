"""Where operators were written, and how to name many of them in a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from trainferry.rehearse.facts import Operator

_SHOWN = 3


def places_of(operators: Iterable[Operator]) -> tuple[str, ...]:
    """The lines of these operators, each once.

    Gradients carry the line that asked for them; it is told only where there is no other.
    """
    found = list(operators)
    written = [one for one in found if not is_gradient(one)]
    return tuple(dict.fromkeys(one.place for one in written or found if one.place))


def names_of(operators: Iterable[Operator]) -> tuple[str, ...]:
    return tuple(one.name for one in operators)


def kinds_of(operators: Iterable[Operator]) -> str:
    """`MatMul`, `Add` and 3 more."""
    kinds = [kind for kind, _ in Counter(one.kind for one in operators).most_common()]
    shown = [f"`{kind}`" for kind in kinds[:_SHOWN]]
    if len(kinds) > _SHOWN:
        return f"{', '.join(shown)} and {len(kinds) - _SHOWN} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def number_of(operators: list[Operator]) -> str:
    return "1 operator" if len(operators) == 1 else f"{len(operators)} operators"


def is_gradient(operator: Operator) -> bool:
    return any(part.startswith("gradients") for part in operator.name.split("/")[:-1])
