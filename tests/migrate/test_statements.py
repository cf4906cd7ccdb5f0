"""Whole statements are put in and taken away with their lines."""

from __future__ import annotations

import ast
import json

import pytest

from tests.migrate.made_rules import source_at
from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File, ProjectFiles
from trainferry.migrate.names import resolve_project
from trainferry.migrate.options import Options
from trainferry.migrate.statements import insert_after, insert_before, remove_statement


def file_of(data: bytes, path: str = "program.py") -> File:
    source = source_at(path, data)
    return ProjectFiles([source], resolve_project([source]), Options()).files[0]


def made(file: File, edit: Edit | None) -> bytes:
    assert edit is not None
    return file.source.edited([edit])


def named(file: File, name: str) -> ast.stmt:
    """The statement that sets, or defines, a name."""
    for node in ast.walk(file.source.tree):
        if isinstance(node, ast.Assign) and file.text(node.targets[0]) == name:
            return node
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    raise AssertionError(name)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"x = 1\n", b"a = 1\nb = 2\nx = 1\n"),
        (b"if y:\n\tx = 1\n", b"if y:\n\ta = 1\n\tb = 2\n\tx = 1\n"),
        (b"if y:\r\n  x = 1\r\n", b"if y:\r\n  a = 1\r\n  b = 2\r\n  x = 1\r\n"),
        (b"\xef\xbb\xbfx = 1\n", b"\xef\xbb\xbfa = 1\nb = 2\nx = 1\n"),
        (b"@f\n@g(1)\ndef x(): pass\n", b"a = 1\nb = 2\n@f\n@g(1)\ndef x(): pass\n"),
    ],
)
def test_lines_before_a_statement_have_its_indentation(before: bytes, after: bytes) -> None:
    file = file_of(before)
    assert made(file, insert_before(file, named(file, "x"), "a = 1\nb = 2")) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"x = 1\n", b"x = 1\na = 1\n"),
        (b"x = 1", b"x = 1\na = 1"),
        (b"x = [1,\n  2]  # two\ny = 2\n", b"x = [1,\n  2]  # two\na = 1\ny = 2\n"),
        (b"if y:\r  x = 1\r", b"if y:\r  x = 1\r  a = 1\r"),
        (b"if y:\r\n  x = 1", b"if y:\r\n  x = 1\r\n  a = 1"),
    ],
)
def test_lines_behind_a_statement_have_its_indentation(before: bytes, after: bytes) -> None:
    file = file_of(before)
    assert made(file, insert_after(file, named(file, "x"), "a = 1")) == after


@pytest.mark.parametrize("text", [b"y = 1; x = 2\n", b"x = 2; y = 1\n", b"if y: x = 1\n"])
def test_a_statement_that_shares_its_line_is_left(text: bytes) -> None:
    file = file_of(text)
    statement = named(file, "x")
    assert insert_before(file, statement, "a") is None
    assert insert_after(file, statement, "a") is None
    assert remove_statement(file, statement) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"x = 1\ny = 2\n", b"y = 2\n"),
        (b"# why\nx = 1  # one\ny = 2\n", b"# why\ny = 2\n"),
        (b"if y:\n  x = 1\n", b"if y:\n  pass\n"),
        (b"if y:\n  z = 2\nelse:\n  x = 1\n", b"if y:\n  z = 2\nelse:\n  pass\n"),
        (b"if y:\n  x = 1\n  z = 2\n", b"if y:\n  z = 2\n"),
        (b"\xef\xbb\xbfx = 1\ny = 2\n", b"\xef\xbb\xbfy = 2\n"),
        (b"try:\n  y = 2\nexcept E:\n  x = 1\n", b"try:\n  y = 2\nexcept E:\n  pass\n"),
        (b"y = 2\nx = 1", b"y = 2\n"),
        (b"@f\ndef x(): pass\ny = 2\n", b"y = 2\n"),
    ],
)
def test_a_statement_goes_with_its_lines(before: bytes, after: bytes) -> None:
    file = file_of(before)
    assert made(file, remove_statement(file, named(file, "x"))) == after


def test_cells_of_a_notebook_keep_to_themselves() -> None:
    cells = [["y = 2\n", "x = 1"], ["z = 3"]]
    book = {
        "cells": [
            {"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in cells
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 4,
    }
    file = file_of(json.dumps(book).encode(), "net.ipynb")

    def cells_after(edit: Edit | None) -> list[str]:
        return ["".join(cell["source"]) for cell in json.loads(made(file, edit))["cells"]]

    assert cells_after(insert_after(file, named(file, "x"), "a")) == ["y = 2\nx = 1\na", "z = 3"]
    assert cells_after(insert_after(file, named(file, "z"), "a")) == ["y = 2\nx = 1", "z = 3\na"]
    assert cells_after(insert_before(file, named(file, "z"), "a")) == ["y = 2\nx = 1", "a\nz = 3"]
    assert cells_after(remove_statement(file, named(file, "x"))) == ["y = 2\n", "z = 3"]
    assert cells_after(remove_statement(file, named(file, "z"))) == ["y = 2\nx = 1", ""]
