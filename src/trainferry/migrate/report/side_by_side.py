"""Two texts side by side as HTML: lines that differ, what differs in them, and why."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import TypeAlias

from trainferry.report.pieces import shown

_AROUND = 3  # equal lines shown before and after a difference
_LONGEST = 2000  # characters of a line that are shown
_LARGEST = 2500  # pairs of lines that are compared to see which became which
_ALIKE = 0.5  # of the words, for a line to be the other one changed
_WORDS = re.compile(r"\w+|\s+|.", re.DOTALL)
_LINE_END = re.compile(r"\r\n|\r|\n")  # as findings count lines; `splitlines` knows more

Opcode: TypeAlias = tuple[str, int, int, int, int]


@dataclass(frozen=True)
class Mark:
    """A note above a difference: its number, what it says, and the lines before it is about."""

    number: int
    html: str
    line: int
    end_line: int


def side_by_side(before: str, after: str, marks: Sequence[Mark]) -> str:
    """The body of a table with four columns: number and text before, number and text after.

    Every mark stands once, above the difference that it is about or that is nearest to it.
    """
    left, right = _LINE_END.split(before), _LINE_END.split(after)
    hunks = list(_matcher(left, right).get_grouped_opcodes(_AROUND))
    above = _placed(marks, [code for hunk in hunks for code in hunk if code[0] != "equal"])
    parts: list[str] = []
    for number, hunk in enumerate(hunks):
        if number:
            parts.append('<tr class="gap"><td colspan="4">⋯</td></tr>')
        for code in hunk:
            parts += [_why(mark) for mark in above.get(code, ())]
            parts += _rows(code, left, right)
    return "".join(parts)


def _matcher(left: Sequence[str], right: Sequence[str]) -> difflib.SequenceMatcher[str]:
    return difflib.SequenceMatcher(None, left, right, autojunk=False)


def _placed(marks: Sequence[Mark], changes: Sequence[Opcode]) -> dict[Opcode, list[Mark]]:
    found: dict[Opcode, list[Mark]] = {}
    for mark in sorted(marks, key=lambda mark: mark.line):
        if changes:
            nearest = min(changes, key=lambda code: _distance(mark, code))
            found.setdefault(nearest, []).append(mark)
    return found


def _distance(mark: Mark, change: Opcode) -> tuple[int, int]:
    """Lines between the two, then between their beginnings; an insertion is before its line."""
    first, last = change[1] + 1, max(change[2], change[1] + 1)
    between = max(0, first - mark.end_line, mark.line - last)
    return between, abs(first - mark.line)


def _rows(code: Opcode, left: list[str], right: list[str]) -> Iterator[str]:
    kind, i1, i2, j1, j2 = code
    if kind == "equal":
        for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
            text = _cut(left[i])
            yield _row("same", i + 1, text, j + 1, text)
        return
    for old, new in _aligned(left[i1:i2], right[j1:j2]):
        before = None if old is None else left[i1 + old]
        after = None if new is None else right[j1 + new]
        texts = _changed(before, after)
        yield _row(
            "changed",
            None if old is None else i1 + old + 1,
            texts[0],
            None if new is None else j1 + new + 1,
            texts[1],
        )


def _aligned(old: list[str], new: list[str]) -> Iterator[tuple[int | None, int | None]]:
    """Numbers of lines that stand beside each other: alike ones, then what is between them."""
    pairs = [(-1, -1), *_alike(old, new), (len(old), len(new))]
    for (i1, j1), (i2, j2) in pairwise(pairs):
        if (i1, j1) != (-1, -1):
            yield i1, j1
        yield from zip_longest(range(i1 + 1, i2), range(j1 + 1, j2))


def _alike(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """The pairs, in order, that have most words in common."""
    if not old or not new or len(old) * len(new) > _LARGEST:
        return []
    words = [Counter(re.findall(r"\w+", line)) for line in old]
    others = [Counter(re.findall(r"\w+", line)) for line in new]
    best: list[list[tuple[float, list[tuple[int, int]]]]] = [[(0.0, [])] * (len(new) + 1)]
    for i, mine in enumerate(words):
        row: list[tuple[float, list[tuple[int, int]]]] = [(0.0, [])]
        for j, other in enumerate(others):
            options = [best[i][j + 1], row[j]]
            if (share := _share(mine, other)) >= _ALIKE:
                score, pairs = best[i][j]
                options.append((score + share, [*pairs, (i, j)]))
            row.append(max(options, key=lambda option: option[0]))
        best.append(row)
    return best[-1][-1][1]


def _share(one: Counter[str], other: Counter[str]) -> float:
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 0.0


def _why(mark: Mark) -> str:
    return f'<tr class="why" id="change-{mark.number}"><td colspan="4">{mark.html}</td></tr>'


def _row(kind: str, old: int | None, old_html: str, new: int | None, new_html: str) -> str:
    return (
        f'<tr class="{kind}"><td class="no">{old or ""}</td>'
        f'<td class="old{"" if old else " none"}">{old_html}</td>'
        f'<td class="no">{new or ""}</td>'
        f'<td class="new{"" if new else " none"}">{new_html}</td></tr>'
    )


def _cut(line: str) -> str:
    return shown(line if len(line) <= _LONGEST else f"{line[:_LONGEST]} …")


def _changed(old: str | None, new: str | None) -> tuple[str, str]:
    """Both lines, with the words that differ marked."""
    if old is None or new is None or max(len(old), len(new)) > _LONGEST:
        return _cut(old or ""), _cut(new or "")
    old_words, new_words = _WORDS.findall(old), _WORDS.findall(new)
    matcher = _matcher(old_words, new_words)
    if matcher.ratio() < _ALIKE:
        return shown(old), shown(new)
    left, right = "", ""
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        mark: Callable[[str, list[str]], str] = _plain if kind == "equal" else _marked
        left += mark("del", old_words[i1:i2])
        right += mark("ins", new_words[j1:j2])
    return left, right


def _plain(_tag: str, words: list[str]) -> str:
    return shown("".join(words))


def _marked(tag: str, words: list[str]) -> str:
    return f"<{tag}>{shown(''.join(words))}</{tag}>" if words else ""
