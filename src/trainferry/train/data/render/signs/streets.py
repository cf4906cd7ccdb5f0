"""Which names of streets a split draws, by rule or from a user's list."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from unicodedata import normalize

from trainferry.errors import DataError
from trainferry.train.data.render.signs.naming import draw_street, street_types
from trainferry.train.data.render.signs.street import LINKS, Street, Word, without_accents
from trainferry.train.data.render.words.dice import Dice
from trainferry.train.data.signs.charset import LONGEST_TEXT, Charset
from trainferry.train.data.text_file import read_text

SPLITS = {"train": range(8), "val": range(8, 9), "test": range(9, 10)}
"""Of ten parts of all names, those of each split."""

LONGEST_WORD = 16

_WORDS = re.compile(r"[^\s']+'?")
_APOSTROPHES = re.compile("[\u2018\u2019]")
_PARTS = 10
_WIDE = 0.6  # of the names for training; the others are like those that are held out


@dataclass(frozen=True)
class StreetList:
    """The usable names of a user's file, and how many were left out for which reason."""

    streets: tuple[Street, ...]
    left_out: dict[str, int]


class Streets:
    """Draws names of streets of one split."""

    def __init__(self, split: str, own: Sequence[Street] = ()) -> None:
        self._parts = SPLITS[split]
        self._widely = split == "train"
        self._own = [street for street in own if part_of(street.text) in self._parts]
        if own and not self._own:
            raise DataError(
                f"none of the {len(own)} names belongs to the split `{split}`",
                hint="names are split by a checksum, 8 : 1 : 1; pass a longer list",
            )

    def draw(self, dice: Dice) -> Street:
        if self._own:
            return dice.pick(self._own)
        while True:
            street = draw_street(dice, widely=self._widely and dice.chance(_WIDE))
            if _fits(street) and self._has(street):
                return street

    def _has(self, street: Street) -> bool:
        """Two names are a type alone. Held out, one of them was 3 % of all signs of its split."""
        if all(word.role == "type" for word in street.words):
            return self._widely
        return part_of(street.text) in self._parts


def part_of(text: str) -> int:
    """Return which tenth of all names a text belongs to; accents and case do not matter."""
    return zlib.crc32(without_accents(text).lower().encode()) % _PARTS


def read_streets(path: Path, charset: Charset) -> StreetList:
    """Read names, one on each line, written as on a map: `Rue de l'Aurore`."""
    try:
        lines = read_text(path, "--names").splitlines()
    except OSError as error:
        raise DataError(
            f"cannot read `{path}`: {error.strerror or error}", hint="check the path"
        ) from error
    left_out = {"unknown character": 0, "too long": 0}
    streets = []
    for line in filter(str.strip, lines):
        street = parse_street(line)
        if charset.unknown(street.text):
            left_out["unknown character"] += 1
        elif not _fits(street):
            left_out["too long"] += 1
        else:
            streets.append(street)
    if not streets:
        raise DataError(
            f"`{path}` has no usable name of a street",
            hint=f"write one on each line, of at most {LONGEST_TEXT} characters",
        )
    return StreetList(tuple(streets), left_out)


def parse_street(text: str) -> Street:
    """Tell type, link words and name apart."""
    types = street_types()
    words: list[Word] = []
    for plain in _WORDS.findall(_APOSTROPHES.sub("'", normalize("NFC", text))):
        if not words and plain in types:
            words.append(Word(plain, "type"))
        elif plain in LINKS:
            words.append(Word(plain, "link"))
        else:
            words.append(Word(plain, "name"))
    return Street(tuple(words))


def _fits(street: Street) -> bool:
    return len(street.text) <= LONGEST_TEXT and all(
        len(word.text) <= LONGEST_WORD for word in street.words
    )
