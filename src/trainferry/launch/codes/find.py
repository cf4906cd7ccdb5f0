"""The codes in a log, each where it was met first."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from trainferry.launch.codes.table import Code, all_codes, family_of, find_code

_STAMP = re.compile(r"\d{4}-\d\d-\d\d[- T]\d\d:\d\d:\d\d(?:[.,]\d{3}(?:\.\d{3})?)?")
_NAMED = r"(?<![\w.-])(?:ERR\d{5}|E[0-9A-Z]\d{4})(?!\w)"
# Six digits alone may be anything; after one of these words they are a code of ACL.
_NUMBERED = (
    r"(?:error code is|(?:\b(?:failed|ret)|result|code)\s*[:=(\[])\s*"
    r"(?P<number>[1235]\d{5})(?!\d)"
)
_WIDTH = 120  # characters that are shown on each side of a code


@dataclass(frozen=True)
class Sighting:
    """A code in a log: the first line with it, `text` of that line, and how many lines have it.

    `code` is None for one that the table does not have. `moment` is the time that stands in the
    line or after it, as it is written there; empty in a log without times.
    """

    word: str
    code: Code | None
    log: str
    line: int
    text: str
    moment: str
    times: int = 1


def find_codes(lines: Iterable[str], log: str) -> list[Sighting]:
    """Every code of a log, in the order in which they come."""
    found: dict[str, Sighting] = {}
    undated: list[str] = []
    moment = ""
    for number, line in enumerate(lines, start=1):
        if stamp := _STAMP.search(line):
            moment = stamp[0]
            for word in undated:
                found[word] = replace(found[word], moment=moment)
            undated = []
        for word, start in _words(line).items():
            if word in found:
                found[word] = replace(found[word], times=found[word].times + 1)
                continue
            text = _around(line, start)
            found[word] = Sighting(word, find_code(word), log, number, text, moment)
            if not stamp:
                undated.append(word)
    return list(found.values())


def in_order(logs: Iterable[list[Sighting]]) -> list[Sighting]:
    """Sightings of several logs by their times; without times, as they come."""
    together = [one for log in logs for one in log]
    return sorted(together, key=lambda one: _comparable(one.moment))


def likely_root(sightings: Iterable[Sighting]) -> Sighting | None:
    """The first that says more than which layer noticed; if none does, the first of all."""
    known = [one for one in sightings if one.code is not None]
    telling = [one for one in known if one.code is not None and not one.code.is_outer]
    return next(iter(telling or known), None)


def _words(line: str) -> dict[str, int]:
    """Codes and symptoms of a line, and where they begin."""
    words: dict[str, int] = {}
    for match in _pattern().finditer(line):
        text = match["text"]
        word = _symptoms()[text] if text else match["number"] or match[0]
        if text or find_code(word) or family_of(word):
            words.setdefault(word, match.start())
    return words


def _around(line: str, start: int) -> str:
    """What stands around a place; lines that a bar was drawn in hold all that it showed."""
    begin = max(line.rfind("\r", 0, start) + 1, start - _WIDTH)
    text = line[begin : start + _WIDTH].partition("\r")[0].strip()
    return f"{'… ' if begin == start - _WIDTH else ''}{text}"


@functools.cache
def _pattern() -> re.Pattern[str]:
    texts = "|".join(map(re.escape, _symptoms()))
    return re.compile(f"(?P<text>{texts})|{_NAMED}|(?i:{_NUMBERED})")


@functools.cache
def _symptoms() -> dict[str, str]:
    return {text: code.name for code in all_codes() for text in code.texts}


def _comparable(moment: str) -> str:
    return re.sub(r"[-T,:]", " ", moment)
