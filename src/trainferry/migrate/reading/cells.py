"""The tree of a notebook: its cells read together, without those that are not Python."""

from __future__ import annotations

from dataclasses import dataclass

from trainferry.migrate.reading.magics import foreign_language, hide, hide_magics
from trainferry.migrate.reading.notebook import Notebook
from trainferry.migrate.reading.parse import Parsed, parse
from trainferry.migrate.reading.positions import CannotRead, find_line_starts


@dataclass(frozen=True)
class ParsedCells:
    """The tree of all cells that could be read, and why the others could not."""

    parsed: Parsed
    unreadable: tuple[CannotRead, ...]
    skipped: tuple[str, ...]


def parse_cells(notebook: Notebook) -> ParsedCells:
    """Read all cells as one text; where that fails, leave out the cells that do not parse."""
    texts: list[bytes] = []
    skipped: list[str] = []
    for cell in notebook.cells:
        text = notebook.python[cell.start : cell.end]
        if language := foreign_language(text):
            skipped.append(f"cell {cell.number} is not Python but %%{language}")
        texts.append(hide(text) if language else hide_magics(text))
    unreadable: tuple[CannotRead, ...] = ()
    try:
        parsed = _parse_together(notebook, texts)
    except CannotRead as whole:
        unreadable = tuple(_leave_out_bad_cells(notebook, texts))
        if not unreadable:
            raise CannotRead(_json_line(notebook, 0, whole.line), whole.reason) from None
        parsed = parse(_joined(texts))
    return ParsedCells(parsed, unreadable, tuple(skipped))


def _parse_together(notebook: Notebook, texts: list[bytes]) -> Parsed:
    parsed = parse(_joined(texts))
    for statement in parsed.tree.body:
        first = next(iter(getattr(statement, "decorator_list", ())), statement)
        assert statement.end_lineno is not None
        assert statement.end_col_offset is not None
        start = parsed.start(first.lineno, first.col_offset)
        if parsed.end(statement.end_lineno, statement.end_col_offset) > notebook.cell(start).end:
            raise CannotRead(first.lineno, "begins in one cell and ends in another")
    return parsed


def _joined(texts: list[bytes]) -> bytes:
    return b"".join(text + b"\n" for text in texts)


def _leave_out_bad_cells(notebook: Notebook, texts: list[bytes]) -> list[CannotRead]:
    problems: list[CannotRead] = []
    for index, cell in enumerate(notebook.cells):
        try:
            parse(texts[index])
        except CannotRead as problem:
            line = _json_line(notebook, cell.start, problem.line)
            problems.append(CannotRead(line, f"cell {cell.number}: {problem.reason}"))
            texts[index] = hide(texts[index])
    return problems


def _json_line(notebook: Notebook, start: int, line: int) -> int:
    """Line of the file for a line of the Python that begins at `start`."""
    starts = find_line_starts(notebook.python[start:])
    return notebook.line(start + starts[min(line, len(starts)) - 1])
