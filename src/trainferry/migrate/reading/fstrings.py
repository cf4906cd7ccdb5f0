"""Right places for what stands inside f-strings.

Before Python 3.12 the parser reads the expressions of an f-string as texts of their own and
guesses their columns. Here each is found in the source and read again where it stands.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trainferry.migrate.nodes import walk
from trainferry.migrate.reading.positions import CannotRead, find_line_starts
from trainferry.migrate.reading.tokens import find_tokens, string_prefix

_SPECIAL = re.compile(rb"[{}\\]")
_IN_EXPRESSION = re.compile(rb"'''|\"\"\"|['\"()\[\]{}:]|!=|[=<>!]=|!|=")


@dataclass(frozen=True)
class _Field:
    """`{expression!r:format}`: where it and its expression are, and the fields of its format."""

    start: int
    end: int
    expression: tuple[int, int]
    inner: list[_Field]


def place_fstrings(tree: ast.Module, text: bytes, starts: Sequence[int]) -> None:
    """Correct the places of all nodes inside f-strings; outer ones before inner ones."""
    formats: set[int] = set()
    for node in walk(tree):
        if isinstance(node, ast.JoinedStr) and id(node) not in formats:
            start = starts[node.lineno - 1] + node.col_offset
            assert node.end_lineno is not None
            assert node.end_col_offset is not None
            end = starts[node.end_lineno - 1] + node.end_col_offset
            fields = list(_fields_between(text, start, end))
            try:
                _Placer(text, starts, formats).place(node, fields)
            except (SyntaxError, ValueError):
                reason = "the expressions of this f-string cannot be told apart"
                raise CannotRead(node.lineno, reason) from None


@dataclass(frozen=True)
class _Placer:
    text: bytes
    starts: Sequence[int]
    formats: set[int]

    def place(self, node: ast.JoinedStr, fields: list[_Field]) -> None:
        values = [value for value in node.values if isinstance(value, ast.FormattedValue)]
        for value, field in zip(values, fields, strict=True):
            self._set(value, field.start, field.end)
            self._place_expression(value.value, *field.expression)
            if isinstance(value.format_spec, ast.JoinedStr):
                self.formats.add(id(value.format_spec))
                self._set(value.format_spec, field.expression[1], field.end)
                self.place(value.format_spec, field.inner)

    def _place_expression(self, expression: ast.expr, start: int, end: int) -> None:
        source = b"(" + self.text[start:end] + b")"
        again = ast.parse(source.decode(), mode="eval").body
        lines = find_line_starts(source)
        for node, found in zip(ast.walk(expression), ast.walk(again), strict=True):
            if type(node) is not type(found):
                raise ValueError(type(found))
            if isinstance(node, ast.expr | ast.arg | ast.keyword):
                place = _offsets(found, lines)
                shift = start - 1
                self._set(node, max(start, place[0] + shift), min(end, place[1] + shift))

    def _set(self, node: ast.expr | ast.arg | ast.keyword, start: int, end: int) -> None:
        node.lineno = bisect_right(self.starts, start)
        node.col_offset = start - self.starts[node.lineno - 1]
        node.end_lineno = bisect_right(self.starts, end)
        node.end_col_offset = end - self.starts[node.end_lineno - 1]


def _offsets(node: ast.AST, lines: Sequence[int]) -> tuple[int, int]:
    assert isinstance(node, ast.expr | ast.arg | ast.keyword)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    start = lines[node.lineno - 1] + node.col_offset
    return start, lines[node.end_lineno - 1] + node.end_col_offset


def _fields_between(text: bytes, start: int, end: int) -> Iterator[_Field]:
    for token in find_tokens(text[:end], start):
        if token.kind == "string" and b"f" in (prefix := string_prefix(token.text)):
            quotes = 3 if token.text[len(prefix) :][:3] in (b'"""', b"'''") else 1
            first = token.start + len(prefix) + quotes
            yield from _fields(text, first, token.end - quotes, b"r" in prefix)[0]


def _fields(
    text: bytes, place: int, end: int, is_raw: bool, *, in_format: bool = False
) -> tuple[list[_Field], int]:
    """The fields of a string, or of a format up to the `}` after it."""
    fields: list[_Field] = []
    while found := _SPECIAL.search(text, place, end):
        place = found.start()
        if found[0] == b"\\":
            place += _escape_length(text, place, is_raw)
        elif text[place : place + 2] in (b"{{", b"}}") and not in_format:
            place += 2
        elif found[0] == b"}":
            if in_format:
                return fields, place
            place += 1
        else:
            fields.append(_field(text, place, end, is_raw))
            place = fields[-1].end
    return fields, end


def _escape_length(text: bytes, place: int, is_raw: bool) -> int:
    if is_raw or text[place + 1 : place + 2] in (b"{", b"}"):
        return 1
    if text[place + 1 : place + 3] == b"N{":
        return text.index(b"}", place) + 1 - place
    return 2


def _field(text: bytes, start: int, end: int, is_raw: bool) -> _Field:
    expression = (start + 1, _expression_end(text, start + 1, end))
    place = expression[1]
    while text[place : place + 1] not in (b":", b"}", b""):
        place += 1
    inner: list[_Field] = []
    if text[place : place + 1] == b":":
        inner, place = _fields(text, place + 1, end, is_raw, in_format=True)
    return _Field(start, place + 1, expression, inner)


def _expression_end(text: bytes, place: int, end: int) -> int:
    depth = 0
    while found := _IN_EXPRESSION.search(text, place, end):
        mark = found[0]
        place = found.end()
        if mark[:1] in (b"'", b'"'):
            place = text.index(mark, place, end) + len(mark)
        elif mark in (b"(", b"[", b"{"):
            depth += 1
        elif depth and mark in (b")", b"]", b"}"):
            depth -= 1
        elif depth == 0 and mark in (b"}", b":", b"!", b"="):
            return found.start()
    raise ValueError("an expression without end")
