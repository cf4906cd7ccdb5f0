"""The tree of a text, read as Python 3 and, where that fails, as an older Python."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from trainferry.migrate.reading.fstrings import place_fstrings
from trainferry.migrate.reading.positions import (
    CannotRead,
    PositionMap,
    find_line_starts,
    replace_all,
)
from trainferry.migrate.reading.python2 import restore_names, translate

# `(?<!\w)(?i:f|fr|rf)['"]`, but the first thing to look for is a set of letters: that is faster.
_HAS_FSTRING = re.compile(rb"[fFrR](?<!\w.)(?:(?<=[fF])[rR]?|[fF])['\"]")
_RUNNING = f"Python {sys.version_info.major}.{sys.version_info.minor}"


@dataclass(frozen=True)
class Parsed:
    """A tree and the way from its lines and columns to the text it was made of."""

    tree: ast.Module
    python: int
    line_starts: Sequence[int]
    translation: PositionMap | None

    def start(self, line: int, column: int) -> int:
        place = self.line_starts[line - 1] + column
        return place if self.translation is None else self.translation.old_start(place)

    def end(self, line: int, column: int) -> int:
        place = self.line_starts[line - 1] + column
        return place if self.translation is None else self.translation.old_end(place)


def parse(text: bytes) -> Parsed:
    """Parse UTF-8 text; CannotRead gives the line that stopped the reading that came farthest."""
    try:
        tree, starts = _parse_python3(text)
    except CannotRead as problem:
        return _parse_older(text, problem)
    return Parsed(tree, 3, starts, None)


def _parse_older(text: bytes, problem: CannotRead) -> Parsed:
    translation = translate(text)
    if not translation.replacements:
        raise problem
    try:
        tree, starts = _parse_python3(replace_all(text, translation.replacements))
    except CannotRead as other:
        raise (other if other.line > problem.line else problem) from None
    if translation.renames:
        restore_names(tree)
    return Parsed(tree, translation.python, starts, PositionMap(translation.replacements))


def _parse_python3(text: bytes) -> tuple[ast.Module, Sequence[int]]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.decode())
            starts = find_line_starts(text)
            if sys.version_info < (3, 12) and _HAS_FSTRING.search(text):
                place_fstrings(tree, text, starts)
    except SyntaxError as error:
        reason = f"{error.msg} (read as {_RUNNING} and as Python 2)"
        raise CannotRead(max(1, error.lineno or 1), reason) from None
    except (RecursionError, MemoryError, OverflowError, ValueError) as error:
        raise CannotRead(1, f"is too much for the parser of {_RUNNING}: {error}") from None
    return tree, starts
