"""YAML from Python values, with comments; every parser reads back the same values.

A text is written plain only where no version of YAML could take it for something else; all other
texts are double-quoted, with escapes for what is not printable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from trainferry.launch.write.files import on_one_line


@dataclass(frozen=True)
class Noted:
    """A value with the comment that stands above it."""

    value: Yaml
    note: str


@dataclass(frozen=True)
class Block:
    """A text of several lines, shown as it is."""

    text: str


Yaml = str | int | bool | Noted | Block | Sequence["Yaml"] | Mapping[str, "Yaml"]


def yaml_document(head: str, value: Mapping[str, Yaml]) -> str:
    """One document, after a comment that says what it is."""
    return "".join(f"{line}\n" for line in ["---", *_comment(head, ""), *_mapping(value, "")])


def yaml_comment(text: str) -> str:
    return "".join(f"{line}\n" for line in _comment(text, ""))


def quoted(text: str) -> str:
    """`text` as one YAML scalar that is read back as this text."""
    if _PLAIN.fullmatch(text) and text.lower() not in _NOT_TEXT:
        return text
    return '"' + "".join(map(_escaped, text)) + '"'


_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9_./-]*")
# What YAML 1.1 or 1.2 takes for a boolean or for nothing.
_NOT_TEXT = {"true", "false", "yes", "no", "on", "off", "y", "n", "null"}
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _comment(text: str, indent: str) -> Iterator[str]:
    for line in text.split("\n"):
        yield f"{indent}# {on_one_line(line)}".rstrip()


def _mapping(value: Mapping[str, Yaml], indent: str) -> Iterator[str]:
    for key, one in value.items():
        inner = one
        if isinstance(inner, Noted):
            yield from _comment(inner.note, indent)
            inner = inner.value
        yield from _after(f"{indent}{quoted(key)}:", inner, indent)


def _sequence(value: Sequence[Yaml], indent: str) -> Iterator[str]:
    for one in value:
        inner = one
        if isinstance(inner, Noted):
            yield from _comment(inner.note, indent)
            inner = inner.value
        if isinstance(inner, Mapping) and inner:
            first, *others = _mapping(inner, f"{indent}  ")
            # A comment cannot stand between the dash and the first key.
            while first.lstrip().startswith("#"):
                yield first
                first, *others = others
            yield f"{indent}- {first.lstrip()}"
            yield from others
        else:
            yield from _after(f"{indent}-", inner, indent)


def _after(start: str, value: Yaml, indent: str) -> Iterator[str]:
    """The lines of a value whose key or dash is `start`."""
    deeper = f"{indent}  "
    if isinstance(value, Noted):
        raise TypeError("a comment belongs to the value itself, not to another comment")
    if isinstance(value, Block) and _can_be_shown(value.text):
        yield f"{start} |"
        for line in value.text.splitlines():
            yield f"{deeper}{line}".rstrip()
    elif isinstance(value, str | int | Block):
        yield f"{start} {_scalar(value)}"
    elif isinstance(value, Mapping):
        yield start if value else f"{start} {{}}"
        yield from _mapping(value, deeper)
    else:
        yield start if value else f"{start} []"
        yield from _sequence(value, deeper)


def _scalar(value: str | bool | int | Block) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return quoted(value.text if isinstance(value, Block) else value)


def _can_be_shown(text: str) -> bool:
    """Whether YAML reads a block back as it is: no line that ends or starts it differently."""
    lines = text.split("\n")
    return (
        len(lines) > 1
        and lines[-1] == ""
        and lines[-2] != ""
        and lines[0] != ""
        and not lines[0].startswith((" ", "\t"))
        and all(line.isprintable() and line == line.rstrip() for line in lines)
    )
