"""Gives an argument the only value that works on the NPU."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trainferry.migrate.file import File
from trainferry.migrate.find import Call
from trainferry.migrate.rule import Finding, Outcome

_WITHOUT_EFFECTS = ast.Constant | ast.Name | ast.Attribute | ast.Lambda


def forced(
    call: Call, file: File, wanted: tuple[int, str, str], message: str, by_hand: str
) -> Iterator[Finding]:
    """Make the argument `wanted` (place, name, value); only told where it may have effects."""
    position, name, value = wanted
    argument = call.argument(position, name)
    if argument is not None and file.text(argument) == value:
        return
    if argument is None and not call.has_star_arguments:
        edits = (call.add_keyword(f"{name}={value}"),)
    elif isinstance(argument, _WITHOUT_EFFECTS):
        edits = (call.replace_argument(argument, value),)
    else:
        yield Finding(call, Outcome.BY_HAND, by_hand)
        return
    yield Finding(call, Outcome.CHANGED, message, edits)
