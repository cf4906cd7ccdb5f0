"""The Python of a notebook's code cells, and edits of it put back into the JSON around."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from trainferry.migrate.edit import Edit, with_line_ends_of
from trainferry.migrate.reading.positions import (
    CannotRead,
    PositionMap,
    Replacement,
    find_line_starts,
    line_at,
    replace_all,
)

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},:]', re.DOTALL)
_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.", re.DOTALL
)

_AFTER_LINE = re.compile(r"(?<=\n)")

_Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Cell:
    """A code cell: its number among all cells, its Python, what stands between its lines."""

    number: int
    start: int
    end: int
    separator: bytes | None


@dataclass(frozen=True)
class Notebook:
    """The code cells of a notebook as one Python text, each cell followed by a line end."""

    json: bytes
    python: bytes
    cells: tuple[Cell, ...]
    places: PositionMap

    def cell(self, place: int) -> Cell:
        """Return the cell with this place of the Python."""
        starts = [cell.start for cell in self.cells]
        return self.cells[max(0, bisect_right(starts, place) - 1)]

    def line(self, place: int) -> int:
        """Line of the JSON with this place of the Python."""
        return bisect_right(self._json_lines, self.places.old_end(place))

    def json_edits(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        """Turn edits of the Python into edits of the JSON."""
        for edit in edits:
            cell = self.cell(edit.start)
            if not cell.start <= edit.start <= edit.end <= cell.end:
                raise AssertionError(f"{edit} leaves its cell")
            start, end = self.places.old_end(edit.start), self.places.old_end(edit.end)
            text = with_line_ends_of(self.python, edit.start, edit.text)
            ends_cell = self.json[end : end + 1] == b'"'
            yield Edit(start, end, _escaped(text, cell.separator, ends_cell, self.json.isascii()))

    @cached_property
    def _json_lines(self) -> Sequence[int]:
        return find_line_starts(self.json)


def read_notebook(text: bytes) -> Notebook:
    """Find the code cells of a notebook of format 3 or 4."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise CannotRead(error.lineno, f"is no notebook: {error.msg}") from None
    except RecursionError:
        raise CannotRead(1, "is no notebook: nested too deeply") from None
    _check_language(content)
    literals = dict(_string_places(text))
    replacements: list[Replacement] = []
    cells: list[Cell] = []
    position = length = 0
    for number, path, source in _code_cells(content):
        places = [literals[part] for part in _parts(path, source)]
        if not places:
            continue
        start = length + bool(cells)
        for first, last in places:
            between = b"\n" if cells and first == places[0][0] else b""
            replacements.append(Replacement(position, first, between))
            escapes = list(_unescaped(text, first, last))
            replacements += escapes
            growth = sum(len(new) - (end - begin) for begin, end, new in escapes)
            length += len(between) + last - first + growth
            position = last
        separator = _separator(text, places) if isinstance(source, list) else None
        cells.append(Cell(number, start, length, separator))
    replacements.append(Replacement(position, len(text), b"\n" if cells else b""))
    python = replace_all(text, replacements)
    return Notebook(text, python, tuple(cells), PositionMap(replacements))


def _check_language(content: Any) -> None:  # noqa: ANN401 - any JSON
    if not isinstance(content, dict):
        raise CannotRead(1, "is no notebook: not a JSON object")
    metadata = content.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    for key, name in (("kernelspec", "language"), ("language_info", "name")):
        part = metadata.get(key)
        language = part.get(name) if isinstance(part, dict) else None
        if isinstance(language, str) and not language.lower().startswith(("python", "ipython")):
            raise CannotRead(1, f"is a notebook in {language}, not in Python")


def _code_cells(
    content: dict[str, Any],
) -> Iterator[tuple[int, _Path, str | list[str]]]:
    """Number, path and source of each code cell; format 3 has worksheets and `input`."""
    groups: list[tuple[_Path, Any]] = [(("cells",), content.get("cells"))]
    worksheets = content.get("worksheets")
    for index, sheet in enumerate(worksheets if isinstance(worksheets, list) else []):
        if isinstance(sheet, dict):
            groups.append((("worksheets", index, "cells"), sheet.get("cells")))
    number = 0
    for path, cells in groups:
        for index, cell in enumerate(cells if isinstance(cells, list) else []):
            number += 1
            if isinstance(cell, dict) and cell.get("cell_type") == "code":
                key = "source" if "source" in cell else "input"
                source = cell.get(key)
                lines = source if isinstance(source, list) else [source]
                if source is not None and all(isinstance(line, str) for line in lines):
                    yield number, (*path, index, key), source


def _parts(path: _Path, source: str | list[str]) -> list[_Path]:
    if isinstance(source, list):
        return [(*path, index) for index in range(len(source))]
    return [path]


def _string_places(text: bytes) -> Iterator[tuple[_Path, tuple[int, int]]]:
    """Path and place between its quotes of every string that is a value; `text` is valid JSON."""
    path: list[str | int] = []
    is_key = False
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark == b"{":
            path.append("")
            is_key = True
        elif mark == b"[":
            path.append(0)
        elif mark in (b"}", b"]"):
            path.pop()
            is_key = False
        elif mark == b":":
            is_key = False
        elif mark == b",":
            last = path[-1]
            is_key = isinstance(last, str)
            path[-1] = last if isinstance(last, str) else last + 1
        elif is_key:
            path[-1] = json.loads(mark)
        else:
            yield tuple(path), (token.start() + 1, token.end() - 1)


def _separator(text: bytes, places: list[tuple[int, int]]) -> bytes:
    """What stands between the quotes of two lines of a cell."""
    if len(places) > 1:
        return text[places[0][1] + 1 : places[1][0] - 1]
    first = places[0][0] - 1
    opening = text.rindex(b"[", 0, first)
    return b"," + text[opening + 1 : first]


def _unescaped(text: bytes, start: int, end: int) -> Iterator[Replacement]:
    for escape in _ESCAPE.finditer(text, start, end):
        character: str = json.loads(b'"' + escape[0] + b'"')
        try:
            new = character.encode()
        except UnicodeEncodeError:
            line = line_at(text, escape.start())
            raise CannotRead(line, f"{escape[0].decode()} is half a character") from None
        yield Replacement(escape.start(), escape.end(), new)


def _escaped(text: str, separator: bytes | None, ends_cell: bool, ascii_only: bool) -> str:
    """Text for inside a JSON string; where a cell is a list, one string per line."""
    lines = [text] if separator is None else _AFTER_LINE.split(text)
    if ends_cell and len(lines) > 1 and not lines[-1]:
        lines.pop()
    quoted = [json.dumps(line, ensure_ascii=ascii_only)[1:-1] for line in lines]
    return f'"{(separator or b"").decode()}"'.join(quoted)
