"""The changes of the HTML page: every changed file before and after, with the reasons."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from trainferry.migrate.migration import MigratedFile, Migration, Told
from trainferry.migrate.reading.encoding import decode
from trainferry.migrate.reading.notebook import read_notebook
from trainferry.migrate.report import chinese
from trainferry.migrate.report.html_pieces import badge
from trainferry.migrate.report.side_by_side import Mark, side_by_side
from trainferry.migrate.rule import Outcome
from trainferry.report.pieces import both, code, path_text, section, shown

_MOST_OPEN = 50  # files; the others open when they are asked for


def changes_section(migration: Migration) -> str:
    if not migration.changed:
        return ""
    told: dict[PurePosixPath, list[tuple[int, Told]]] = {}
    for number, one in enumerate(migration.told, start=1):
        if one.outcome is not Outcome.BY_HAND:
            told.setdefault(one.path, []).append((number, one))
    files = "".join(
        _file(file, told.get(file.path, []), index < _MOST_OPEN)
        for index, file in enumerate(migration.changed)
    )
    closed = len(migration.changed) - _MOST_OPEN
    note = both(
        f"The last {closed:,} files are closed: click on a name to open it.",
        f"后 {closed:,} 个文件已折叠，点击文件名展开。",
    )
    content = (f'<p class="quiet">{note}</p>' if closed > 0 else "") + files
    return section("changes", "Changes side by side", "改动对照", content)


def _file(file: MigratedFile, told: list[tuple[int, Told]], is_open: bool) -> str:
    marks = [Mark(number, _why(number, one), one.line, one.end_line) for number, one in told]
    if file.path.suffix == ".ipynb":
        marks = list(_in_cells(marks, [one for _, one in told], file))
    rows = side_by_side(file.text_before, file.text_after, marks)
    return (
        f'<details class="file" data-file="{shown(file.path)}"{" open" if is_open else ""}>'
        f'<summary>{path_text(file.path)} <span class="quiet">{len(marks)}</span></summary>'
        f'<div class="scroll"><table class="diff"><colgroup><col class="no"><col>'
        f'<col class="no"><col></colgroup>{rows}</table></div></details>'
    )


def _why(number: int, told: Told) -> str:
    rule = shown(told.rule.name)
    text = chinese.rule_texts().get(told.rule.name)
    title = f'<span class="zh">{code(text.title)}。</span>' if text else ""
    cell = "" if told.cell is None else both(f"cell {told.cell}: ", f"单元 {told.cell}：")
    return (
        f'{badge(told.outcome)} <a href="#finding-{number}">#{number}</a> '
        f'<a href="#rule-{rule}">{rule}</a> {cell}{title}{code(told.message)}'
    )


def _in_cells(marks: list[Mark], told: list[Told], file: MigratedFile) -> Iterable[Mark]:
    """Marks with lines of the cells' Python, which is what is shown, in place of the JSON's."""
    notebook = read_notebook(decode(file.before).utf8)
    lines = notebook.python.split(b"\n")
    of_json: dict[int, list[int]] = {}
    place = 0
    for number, line in enumerate(lines, start=1):
        of_json.setdefault(notebook.line(place), []).append(number)
        place += len(line) + 1
    for mark, one in zip(marks, told, strict=True):
        near = of_json.get(mark.line, [1])
        same = [number for number in near if lines[number - 1].decode().strip() == one.text]
        first = (same or near)[0]
        yield Mark(mark.number, mark.html, first, first + mark.end_line - mark.line)
