"""Edits of whole statements: put one before or behind another, or take one away."""

from __future__ import annotations

import ast

from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File
from trainferry.migrate.lines import indentation, line_end, line_start


def insert_before(file: File, statement: ast.stmt, text: str) -> Edit | None:
    """Put lines before a statement, with its indentation; None where it shares its line.

    `text` has no indentation of its own on the first line, and no line end after the last.
    """
    start = _own_line(file, statement)
    if start is None:
        return None
    return Edit(start, start, _indented(file, statement, text) + "\n")


def insert_after(file: File, statement: ast.stmt, text: str) -> Edit | None:
    """Put lines behind a statement, with its indentation; None where it shares its line."""
    if _own_line(file, statement) is None:
        return None
    return new_lines_behind(file, statement, _indented(file, statement, text))


def new_lines_behind(file: File, statement: ast.stmt, text: str) -> Edit:
    """Put lines behind the last line of a statement as they are, also where no line end is."""
    end = _behind(file, statement)
    if file.source.data[end - 1 : end] not in (b"\n", b"\r"):
        return Edit(end, end, f"\n{text}")
    if _is_continued(file.source.data, end):  # by a backslash that nothing follows
        return Edit(end, end, f"\n{text}\n")
    return Edit(end, end, f"{text}\n")


def remove_statement(file: File, statement: ast.stmt) -> Edit | None:
    """Take a statement away with its lines; `pass` where the block would be empty.

    None where it shares its line with another statement. Comments above it stay.
    """
    start = _own_line(file, statement)
    if start is None:
        return None
    if _is_alone(file, statement):
        return Edit(*file.source.span(statement), "pass")
    return Edit(start, _behind(file, statement), "")


def _behind(file: File, statement: ast.stmt) -> int:
    """Behind the last line of a statement; a notebook's cell may end before the line does."""
    start, end = file.source.span(statement)
    data = file.source.data
    behind = line_end(data, end)
    while behind < len(data) and data[end:behind].strip() == b"\\":  # nothing comes, but it goes on
        end, behind = behind, line_end(data, behind)
    notebook = file.source.notebook
    return behind if notebook is None else min(behind, notebook.cell(start).end)


def _own_line(file: File, statement: ast.stmt) -> int | None:
    """Where the lines of a statement start; None when they hold anything else."""
    data = file.source.data
    start, end = file.source.span(statement)
    decorators = getattr(statement, "decorator_list", [])
    if decorators:
        start = file.source.span(decorators[0])[0] - 1
    line = line_start(data, start)
    behind = data[end : line_end(data, end)].strip()
    is_shared = data[line:start].strip() or (behind and not behind.startswith(b"#"))
    return None if is_shared or _is_continued(data, line) else line


def _is_continued(data: bytes, line: int) -> bool:
    """Whether a backslash makes one line of this and the one before."""
    end = line - (2 if data[max(0, line - 2) : line] == b"\r\n" else 1)
    before = data[line_start(data, max(0, end)) : max(0, end)]
    return before.endswith(b"\\") and not before.lstrip().startswith(b"#")


def _is_alone(file: File, statement: ast.stmt) -> bool:
    above = file.parent(statement)
    blocks = [getattr(above, name, None) for name in ("body", "orelse", "finalbody")]
    return not isinstance(above, ast.Module) and [statement] in blocks


def _indented(file: File, statement: ast.stmt, text: str) -> str:
    space = indentation(file.source.data, file.source.span(statement)[0])
    return "\n".join(f"{space}{line}" if line else line for line in text.split("\n"))
