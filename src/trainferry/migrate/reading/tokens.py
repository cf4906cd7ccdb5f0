"""Tokens of Python 2, Python 3 and everything between, also of text that does not parse.

The standard tokenizer refuses `0777`, `!ls` and more from Python 3.12 on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_STRING = rb"""
    (?:[uUbB]?[rR]?|[rR][bB]|[fF][rR]?|[rR][fF])
    (?: \"\"\"[^\"\\]*(?:(?:\\.|\"(?!\"\"))[^\"\\]*)*\"\"\"
      | '''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''
      | \"[^\"\\\r\n]*(?:\\(?:\r\n|.)[^\"\\\r\n]*)*\"
      | '[^'\\\r\n]*(?:\\(?:\r\n|.)[^'\\\r\n]*)*'
    )
"""
_NUMBER = rb"""
    0[xX][0-9a-fA-F_]+[lL]? | 0[oO][0-7_]+[lL]? | 0[bB][01_]+[lL]?
  | (?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9][0-9_]*)?[jJlL]?
"""
_TOKEN = re.compile(
    rb"(?P<space>(?:[ \t\f]|\\(?:\r\n|\r|\n))+)"
    rb"|(?P<comment>\#[^\r\n]*)"
    rb"|(?P<newline>\r\n|\r|\n)"
    rb"|(?P<string>" + _STRING + rb")"
    rb"|(?P<number>" + _NUMBER + rb")"
    rb"|(?P<name>[A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*)"
    rb"|(?P<operator><>|>>=?|<<=?|\*\*=?|//=?|->|:=|[-+*/%@&|^=!<>]=?|.)",
    re.VERBOSE | re.DOTALL,
)

OPENING = frozenset((b"(", b"[", b"{"))
CLOSING = frozenset((b")", b"]", b"}"))


class Token(NamedTuple):
    """One token; `kind` is space, comment, newline, string, number, name or operator."""

    kind: str
    text: bytes
    start: int
    end: int


def find_tokens(text: bytes, start: int = 0) -> Iterator[Token]:
    """Yield all tokens; together they are the text."""
    for match in _TOKEN.finditer(text, start):
        kind = match.lastgroup
        assert kind is not None
        yield Token(kind, match[0], match.start(), match.end())


def string_prefix(token: bytes) -> bytes:
    """Return the letters before the quotes, in lower case."""
    return token[: re.search(rb"['\"]", token).start()].lower()  # type: ignore[union-attr]  # a string token has quotes
