"""What is read wrong, as lines of text: characters taken for others, and the worst."""

from __future__ import annotations

import unicodedata

from trainferry.cli.columns import SCORES, Column, Row, cut, table

_MOST_PAIRS = 10
_WORST = 5
_WIDEST_WORD = 48


def text_mistakes(row: Row) -> list[str]:
    """Return all of it, each table behind an empty line."""
    tables = (confused_characters(row), worst_characters(row), worst_words(row))
    return [line for lines in tables for line in ("", *lines)]


def confused_characters(row: Row) -> list[str]:
    """Return which characters are taken for which, most often first, and how many there are."""
    written = {each["character"]: each["samples"] for each in row["characters"]}
    return table(
        row["confused"][:_MOST_PAIRS],
        [
            Column("times", lambda pair: str(pair["times"])),
            Column("of", lambda pair: str(written.get(pair["truth"], "-"))),
            Column("this character", lambda pair: _character(pair["truth"]), left=True),
            Column("was read as", lambda pair: _character(pair["read"]), left=True),
        ],
    )


def worst_characters(row: Row) -> list[str]:
    """Return the characters with the lowest F1, if they were ever wrong."""
    return table(
        [each for each in row["characters"] if each["f1"] < 1][:_WORST],
        [
            Column("worst characters", lambda each: _character(each["character"]), left=True),
            Column("written", lambda each: str(each["samples"])),
            Column("read", lambda each: str(each["named"])),
            Column("right", lambda each: str(each["right"])),
            *SCORES,
        ],
    )


def worst_words(row: Row) -> list[str]:
    """Return the words that were read worst."""
    return table(
        row["worst"][:_WORST],
        [
            Column("worst words", lambda each: _word(each["truth"]), left=True),
            Column("were read as", lambda each: _word(each["read"]), left=True),
        ],
    )


def _character(character: str) -> str:
    """Return a character as it is, or in words where nobody would see it."""
    if character in ("", " "):
        return "(space)" if character else "(nothing)"
    if unicodedata.combining(character) or not character.isprintable():
        return f"U+{ord(character):04X}"
    return character


def _word(text: str) -> str:
    return cut(text, _WIDEST_WORD) if text.strip() else _character(text[:1])
