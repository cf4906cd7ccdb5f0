"""The name of a street, word by word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from unicodedata import combining, normalize

Role = Literal["type", "link", "title", "first", "name"]

LINKS = frozenset(
    ("de", "du", "des", "d'", "la", "le", "les", "l'", "à", "au", "aux", "en", "et", "sur", "sous")
)
"""Small words between the type and the name."""


@dataclass(frozen=True)
class Word:
    """One word of a name; an elided one (d', l') joins the next without a space.

    An invented word is in no list: only its plate tells how it is written.
    """

    text: str
    role: Role
    invented: bool = False


@dataclass(frozen=True)
class Street:
    """The name of a street, word by word."""

    words: tuple[Word, ...]

    @property
    def text(self) -> str:
        return join_words([word.text for word in self.words])


def join_words(texts: Sequence[str]) -> str:
    joined = ""
    for text in texts:
        joined += text if not joined or joined.endswith("'") else " " + text
    return joined


def without_accents(text: str) -> str:
    if text.isascii():
        return text
    plain = text.replace("œ", "oe").replace("Œ", "OE").replace("æ", "ae").replace("Æ", "AE")
    return "".join(one for one in normalize("NFD", plain) if not combining(one))
