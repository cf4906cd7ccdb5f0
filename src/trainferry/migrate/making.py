"""A file with the edits of findings made: those that fit together, read again and checked."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from trainferry.migrate.dispatch import Found
from trainferry.migrate.edit import Edit
from trainferry.migrate.file import File
from trainferry.migrate.imports import add_imports, taken_name
from trainferry.migrate.read import Source, Unreadable, read_source
from trainferry.migrate.rule import Outcome

_QUOTES = frozenset("'\"\\#\n")


class Made(NamedTuple):
    """A source with the edits of some findings made."""

    source: Source
    edits: set[Edit]
    imported: Edit | None


def make_edits(file: File, chosen: list[Found]) -> tuple[list[Found], Made | str]:
    """Make the edits of these findings, or what is wrong with those of the first.

    Edits that are each right can be wrong together, as when two remove the only two statements
    of a block: then some wait for the next round.
    """
    made = _all_made(file, chosen)
    if not isinstance(made, str) or len(chosen) == 1:
        return chosen, made
    kept: list[Found] = []
    for one in chosen:
        more = _all_made(file, [*kept, one])
        if not isinstance(more, str):
            kept, made = [*kept, one], more
    return kept or chosen, made


def with_free_names(found: Found, file: File) -> Found:
    """Leave to the user what needs a name that the file uses for something else, or quotes."""
    finding = found.finding
    if not finding.edits:
        return found
    texts = " … ".join(edit.text.strip() for edit in finding.edits if edit.text.strip())
    name = taken_name(file, finding.imports, finding.at.node)
    if name is not None:
        why = (
            f"`{name}` is already another thing in this file; import it under another name "
            f"({'; '.join(finding.imports)}) and write"
        )
    elif not _QUOTES.isdisjoint(texts) and _is_in_fstring(file, finding.at.node):
        why = "an f-string has no room for more quotes before Python 3.12: take it out, and write"
    else:
        return found
    message = f"{why} `{texts}`: {finding.message}"
    return Found(
        found.rule,
        replace(finding, outcome=Outcome.BY_HAND, message=message, edits=(), imports=()),
    )


def without_meetings(found: Iterable[Found]) -> Iterator[Found]:
    """Those with edits that meet no edit of an earlier one; the others wait for the next round."""
    taken: list[Edit] = []
    for one in sorted(found, key=_is_kept):
        edits = one.finding.edits
        if edits and not any(_meet(edit, other) for edit in edits for other in taken):
            taken += edits
            yield one


def _is_in_fstring(file: File, node: ast.AST) -> bool:
    return any(isinstance(one, ast.JoinedStr) for one in file.parents(node))


def _all_made(file: File, chosen: list[Found]) -> Made | str:
    edits = {edit for one in chosen for edit in one.finding.edits}
    statements = [one for found in chosen for one in found.finding.imports]
    needy = [one.finding for one in chosen if one.finding.imports]
    new_lines = [
        edit.start
        for finding in needy
        for edit in finding.edits
        if edit.start == edit.end and "\n" in edit.text
    ]
    imported = add_imports(file, statements, [one.at.node for one in needy], new_lines)
    edits = _with_import(edits, imported)
    again = _read_again(file.source, edits)
    return again if isinstance(again, str) else Made(again, edits, imported)


def _with_import(edits: set[Edit], imported: Edit | None) -> set[Edit]:
    """Add the edit of the imports; new lines at the same place come behind them."""
    if imported is None:
        return edits
    here = imported.start
    same = sorted(edit for edit in edits if edit.start == edit.end == here)
    text = imported.text + "".join(edit.text for edit in same)
    return (edits - set(same)) | {Edit(here, here, text)}


def _read_again(source: Source, edits: Iterable[Edit]) -> Source | str:
    """The source after its edits, or what is wrong with them."""
    try:
        data = source.edited(edits)
    except AssertionError as error:
        return str(error)
    again = read_source(source.path, data, source.module)
    if isinstance(again, Source) and len(again.unreadable) <= len(source.unreadable):
        problem = _repeated_keyword(again)
        return again if not problem or _repeated_keyword(source) else problem
    told = again if isinstance(again, Unreadable) else again.unreadable[-1]
    return f"line {told.line}: {told.reason}"


def _repeated_keyword(source: Source) -> str:
    """The one error that Python finds only behind its parser and that an edit can make."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call):
            names = [one.arg for one in node.keywords if one.arg is not None]
            if len(names) > len(set(names)):
                return f"line {node.lineno}: a keyword is given twice"
    return ""


def _is_kept(found: Found) -> bool:
    """False for removals, which come first: what would change inside needs no imports then."""
    return not all(edit.removes for edit in found.finding.edits)


def _meet(one: Edit, other: Edit) -> bool:
    if one.start == one.end == other.start == other.end:
        return True
    return one.start < other.end and other.start < one.end
