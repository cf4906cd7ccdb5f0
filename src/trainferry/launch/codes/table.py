"""The table of codes; it is `codes.toml`, with source and date."""

from __future__ import annotations

import difflib
import functools
import re
import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any

# `?` in the name of a row, and how codes are written: EI0006, ERR02200, 507011.
_ANY = "[0-9A-Z]"
_SHAPE = re.compile(r"ERR\d{5}|E[0-9A-Z]\d{4}|\d{6}")


@dataclass(frozen=True)
class Seen:
    """What users found, and the thread that says so."""

    what: str
    thread: str


@dataclass(frozen=True)
class Code:
    """A code, or a symptom that has only `texts`.

    `is_outer`: it says which layer noticed, and another code in the log tells more.
    """

    name: str
    says: str
    causes: tuple[str, ...]
    what_to_do: tuple[str, ...]
    sources: tuple[str, ...]
    seen: tuple[Seen, ...] = ()
    texts: tuple[str, ...] = ()
    is_outer: bool = False

    def means(self, word: str) -> bool:
        if "?" not in self.name:
            return word == self.name
        return re.fullmatch(self.name.replace("?", _ANY), word) is not None


def find_code(word: str) -> Code | None:
    """The row of a code, or of a symptom by its name; a row of its own before one with `?`."""
    found = [code for code in all_codes() if code.means(word)]
    return min(found, key=lambda code: code.name.count("?"), default=None)


@functools.cache
def all_codes() -> tuple[Code, ...]:
    """All rows, in the order of the table: by the part of the software they come from."""
    table = _table()
    sources = {
        name: f"{one['where']} ({one['date']:%Y-%m-%d})" for name, one in table["sources"].items()
    }
    return tuple(_code(row, sources) for row in table["code"])


def family_of(word: str) -> str:
    """Which part of the vendor's software a code comes from; empty if its beginning is unknown."""
    families: dict[str, str] = _table()["families"]
    fits = [begin for begin in families if _SHAPE.fullmatch(word) and word.startswith(begin)]
    return families[max(fits, key=len)] if fits else ""


def looks_like_a_code(word: str) -> bool:
    return _SHAPE.fullmatch(word) is not None


def nearest_names(word: str) -> list[str]:
    """Names of rows that a misspelt word may have meant."""
    names = [code.name for code in all_codes()]
    return difflib.get_close_matches(word, names, n=3, cutoff=0.5)


def _code(row: dict[str, Any], sources: dict[str, str]) -> Code:
    return Code(
        name=row["code"],
        says=row["says"],
        causes=tuple(row.get("causes", ())),
        what_to_do=tuple(row["next"]),
        sources=tuple(sources[name] for name in row["source"]),
        seen=tuple(Seen(**one) for one in row.get("seen", ())),
        texts=tuple(row.get("text", ())),
        is_outer=row.get("outer", False),
    )


@functools.cache
def _table() -> dict[str, Any]:
    text = resources.files("trainferry.launch.codes").joinpath("codes.toml").read_text("utf-8")
    return tomllib.loads(text)
