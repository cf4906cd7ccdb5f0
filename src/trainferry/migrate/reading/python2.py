"""Python 2 made readable for the parser of Python 3, with every name in its place.

Only what Python 3 refuses is replaced, and only as far as the tree needs it: a `print`
statement becomes a call, `except E, e` gets its `as`, a `raise` with commas a tuple, text
between backticks the operand of `~`, a tuple among the parameters its names. No line is
added or removed, and names, arguments and calls keep their text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from trainferry.migrate.reading.positions import Replacement
from trainferry.migrate.reading.tokens import CLOSING, OPENING, Token, find_tokens, string_prefix

_OLD_OCTAL = re.compile(rb"0[0-7]+[lL]?")
_ESCAPE_OF_UNICODE = re.compile(rb"\\[uUN]")
# Names before Python 3.7, attributes before Python 3; they get an ending for the parser and
# lose it in the tree.
_LATER_KEYWORDS = frozenset((b"async", b"await"))
_LATER_CONSTANTS = frozenset((b"True", b"False"))
_ENDING = b"_is_a_name"


@dataclass(frozen=True)
class Translation:
    """What to replace so that Python 3 can parse it, and the version it was written for."""

    replacements: list[Replacement]
    python: int

    @property
    def renames(self) -> bool:
        return any(new.endswith(_ENDING) for _, _, new in self.replacements)


def translate(text: bytes) -> Translation:
    """Find what only an older Python accepts."""
    lines = list(_logical_lines(text))
    language = _find_language(lines)
    tabs = [one for line in lines for one in line.indentation]
    keywords = [one for line in lines for one in _later_keywords(line.tokens)]
    old = [one for line in lines for one in _old_parts(line.tokens, language)]
    # Tabs are no sign where something else explains why Python 3 refused the text.
    is_old = bool(old) or not keywords
    return Translation(sorted(tabs + keywords + old), 2 if is_old else 3)


def restore_names(tree: ast.Module) -> None:
    """Give `async` and `await` used as names their spelling back."""
    ending = _ENDING.decode()
    words = [word.decode() for word in _LATER_KEYWORDS | _LATER_CONSTANTS]
    renamed = {word + ending: word for word in words}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            continue
        for name, value in ast.iter_fields(node):
            if isinstance(value, str) and ending in value:
                dotted = [renamed.get(part, part) for part in value.split(".")]
                setattr(node, name, ".".join(dotted))
            elif isinstance(value, list) and value and isinstance(value[0], str):
                setattr(node, name, [renamed.get(part, part) for part in value])


@dataclass(frozen=True)
class _Language:
    prints_with_function: bool
    strings_are_unicode: bool


@dataclass(frozen=True)
class _LogicalLine:
    """The tokens up to the end of a line outside brackets, without spaces and comments."""

    indentation: list[Replacement]
    tokens: list[Token]


def _find_language(lines: list[_LogicalLine]) -> _Language:
    words: set[bytes] = set()
    for line in lines:
        texts = [token.text for token in line.tokens]
        if texts[:2] == [b"from", b"__future__"]:
            words.update(texts)
    return _Language(b"print_function" in words, b"unicode_literals" in words)


def _logical_lines(text: bytes) -> Iterator[_LogicalLine]:
    tokens: list[Token] = []
    indentation: list[Replacement] = []
    depth = 0
    at_start = True
    for token in find_tokens(text):
        if at_start and token.kind == "space":
            indentation = _without_tabs(token)
        at_start = False
        if token.kind in ("space", "comment"):
            continue
        if token.kind == "newline":
            if depth == 0:
                if tokens:
                    yield _LogicalLine(indentation, tokens)
                tokens, indentation, at_start = [], [], True
            continue
        depth = max(0, depth + (token.text in OPENING) - (token.text in CLOSING))
        tokens.append(token)
    if tokens:
        yield _LogicalLine(indentation, tokens)


def _without_tabs(space: Token) -> list[Replacement]:
    """A tab in an indentation goes to the next multiple of eight, a form feed to the start."""
    if b"\t" not in space.text or b"\\" in space.text:
        return []
    return [Replacement(space.start, space.end, space.text.rpartition(b"\f")[2].expandtabs(8))]


def _later_keywords(tokens: list[Token]) -> Iterator[Replacement]:
    for index, token in enumerate(tokens):
        if token.kind == "name" and token.text in _LATER_KEYWORDS:
            before = tokens[index - 1].text if index else b""
            after = tokens[index + 1].text if index + 1 < len(tokens) else b""
            if token.text == b"async":
                is_name = after not in (b"def", b"for", b"with")
            else:
                is_name = after in (b"", b"=", b",", b")", b".", b":", b"]")
            if is_name or before in (b".", b"def", b"import"):
                yield _renamed(token)


def _renamed(token: Token) -> Replacement:
    return Replacement(token.start, token.end, token.text + _ENDING)


def _old_parts(tokens: list[Token], language: _Language) -> Iterator[Replacement]:
    yield from _old_backticks(tokens)
    for token in tokens:
        if token.kind == "number":
            yield from _old_number(token)
        elif token.kind == "string":
            yield from _old_string(token, language)
        elif token.text == b"<>":
            yield Replacement(token.start, token.end, b"!=")
    for dot, token in pairwise(tokens):
        if dot.text == b"." and token.text in _LATER_CONSTANTS:
            yield _renamed(token)
    yield from _tuple_parameters(tokens)
    yield from _bare_tuples_in_lists(tokens)
    for statement in _statements(tokens):
        yield from _old_statement(statement, language)


def _statements(tokens: list[Token]) -> Iterator[list[Token]]:
    """Simple statements and the heads of compound ones, without `;` and the `:` of a head."""
    start = depth = 0
    for index, token in enumerate(tokens):
        depth += (token.text in OPENING) - (token.text in CLOSING)
        if depth == 0 and token.text in (b";", b":"):
            yield tokens[start:index]
            start = index + 1
    yield tokens[start:]


def _old_statement(statement: list[Token], language: _Language) -> Iterator[Replacement]:
    if len(statement) < 2:
        return
    word = statement[0].text
    if word == b"exec" or (word == b"print" and not language.prints_with_function):
        if not _reads_in_both(statement):
            yield from _in_brackets(statement[1:])
    elif word == b"raise" and _outer_commas(statement):
        yield from _in_brackets(statement[1:])
    elif word == b"except" and (commas := _outer_commas(statement)):
        comma = statement[commas[0]]
        if commas[0] == len(statement) - 2 and statement[-1].kind == "name":
            yield Replacement(comma.start, comma.end, b" as ")
        else:
            yield from _in_brackets(statement[1:])


def _reads_in_both(statement: list[Token]) -> bool:
    """`print(...)`, `print >>file, x` and uses of the name as a function."""
    after = statement[1].text
    if after == b"(":
        return _closing(statement, 1) == len(statement) - 1
    return after in (b"=", b".", b",", b")", b"]", b">>")


def _in_brackets(tokens: list[Token]) -> Iterator[Replacement]:
    yield Replacement(tokens[0].start, tokens[0].start, b"(")
    yield Replacement(tokens[-1].end, tokens[-1].end, b")")


def _outer_commas(tokens: list[Token]) -> list[int]:
    commas: list[int] = []
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.text in OPENING) - (token.text in CLOSING)
        if depth == 0 and token.text == b",":
            commas.append(index)
    return commas


def _closing(tokens: list[Token], opening: int) -> int:
    """Index of the bracket that closes this one, or of the last token."""
    depth = 0
    for index in range(opening, len(tokens)):
        depth += (tokens[index].text in OPENING) - (tokens[index].text in CLOSING)
        if depth == 0:
            return index
    return len(tokens) - 1


def _old_number(token: Token) -> Iterator[Replacement]:
    if _OLD_OCTAL.fullmatch(token.text) and token.text.strip(b"0lL"):
        digits = token.text.rstrip(b"lL")
        yield Replacement(token.start, token.end, b"0o" + digits[1:])
    elif token.text[-1:] in b"lL":
        # In brackets, because `7L.bit_length()` is legal and `7.bit_length()` is not.
        yield Replacement(token.start, token.end, b"(" + token.text[:-1] + b")")


def _old_string(token: Token, language: _Language) -> Iterator[Replacement]:
    """Byte strings are strings in Python 2: they may hold any character and join with others."""
    prefix = string_prefix(token.text)
    after = len(prefix)
    is_unicode = "u" in prefix.decode() or (language.strings_are_unicode and b"b" not in prefix)
    new = b"r" if b"r" in prefix else b""
    if not is_unicode and _ESCAPE_OF_UNICODE.search(token.text):
        new = b"r"
    if b"b" in prefix or prefix == b"ur" or (new and not prefix):
        yield Replacement(token.start, token.start + after + 1, new + token.text[after : after + 1])


def _old_backticks(tokens: list[Token]) -> Iterator[Replacement]:
    stack: list[bytes] = []
    for token in tokens:
        if token.text == b"`" and stack and stack[-1] == b"`":
            stack.pop()
            yield Replacement(token.start, token.end, b"))")
        elif token.text == b"`":
            stack.append(token.text)
            yield Replacement(token.start, token.end, b"(~(")
        elif token.text in OPENING:
            stack.append(token.text)
        elif token.text in CLOSING and stack:
            stack.pop()


def _tuple_parameters(tokens: list[Token]) -> Iterator[Replacement]:
    """`def f(a, (b, c))` and `lambda (k, v): k` take `b`, `c` and `k`, `v` one by one."""
    for index, token in enumerate(tokens):
        if token.kind != "name":
            continue
        if token.text == b"lambda":
            yield from _flatten(tokens, index + 1, b":")
        elif token.text == b"def" and index + 2 < len(tokens) and tokens[index + 2].text == b"(":
            yield from _flatten(tokens, index + 3, b")")


def _flatten(tokens: list[Token], first: int, last: bytes) -> Iterator[Replacement]:
    index = first
    while index < len(tokens) and tokens[index].text != last:
        is_bracket = tokens[index].text in OPENING
        if is_bracket and (index == first or tokens[index - 1].text == b","):
            end = _closing(tokens, index)
            has_default = end + 1 < len(tokens) and tokens[end + 1].text == b"="
            yield from _flatten_one(tokens[index : end + 1], has_default)
        index = _closing(tokens, index) + 1 if is_bracket else index + 1


def _flatten_one(tokens: list[Token], has_default: bool) -> Iterator[Replacement]:
    names = [token for token in tokens if token.kind == "name"]
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        ends_group = following is not None and following.text == b")"
        if token.text in (b"(", b")") or (token.text == b"," and ends_group):
            yield Replacement(token.start, token.end, b" ")
        elif has_default and token.kind == "name" and token is not names[-1]:
            yield Replacement(token.end, token.end, b"=None")


def _bare_tuples_in_lists(tokens: list[Token]) -> Iterator[Replacement]:
    """`[x for x in 1, 2]` needs brackets around `1, 2`."""
    for opening, token in enumerate(tokens):
        if token.text != b"[":
            continue
        closing = _closing(tokens, opening)
        start = 0
        index = opening + 1
        waiting = False
        while index <= closing:
            word = tokens[index].text
            if word in (b"for", b"if") or index == closing:
                if start and _outer_commas(tokens[start:index]):
                    yield from _in_brackets(tokens[start:index])
                start, waiting = 0, word == b"for"
            elif word == b"in" and waiting:
                start, waiting = index + 1, False
            index = _closing(tokens, index) + 1 if word in OPENING else index + 1
