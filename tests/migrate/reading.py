"""Sources for tests, and the check that every node stands where it says."""

from __future__ import annotations

import ast
import unicodedata
from pathlib import PurePosixPath

from trainferry.migrate.read import Source, Unreadable, read_source


def source_of(data: bytes, name: str = "net.py") -> Source:
    result = read_source(PurePosixPath(name), data, "net")
    assert isinstance(result, Source), result
    return result


def problem_of(data: bytes, name: str = "net.py") -> Unreadable:
    result = read_source(PurePosixPath(name), data, "net")
    assert isinstance(result, Unreadable)
    return result


def texts_of(source: Source, kind: type[ast.AST]) -> list[str]:
    nodes = [node for node in ast.walk(source.tree) if isinstance(node, kind)]
    return [source.text_of(node) for node in sorted(nodes, key=source.span)]


def check_places(source: Source) -> int:
    """Every name, attribute, argument and call stands where its span says; how many did."""
    checked = 0
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name | ast.Attribute | ast.arg | ast.keyword | ast.Call):
            start, end = source.span(node)
            text = unicodedata.normalize("NFKC", source.data[start:end].decode(source.encoding))
            assert _stands(node, text, source.python), (source.path, ast.dump(node), text)
            checked += 1
    return checked


def _stands(
    node: ast.Name | ast.Attribute | ast.arg | ast.keyword | ast.Call, text: str, python: int
) -> bool:
    match node:
        case ast.Name():
            return text == node.id
        case ast.Attribute():
            return text.endswith(node.attr) and "." in text
        case ast.arg():
            return text.startswith(node.arg)
        case ast.keyword():
            return text.startswith(node.arg or "**")
        case _:
            is_statement = python == 2 and text.startswith(("print", "exec"))
            return text.endswith(")") or is_statement
