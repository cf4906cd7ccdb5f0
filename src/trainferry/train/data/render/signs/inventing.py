"""Words that are in no list, so that they have to be read letter by letter.

`compose` joins syllables of French places and people. `spell` joins groups of letters, rare and
doubled ones among them, and `distort` changes letters of a real word: after these two, neither
the beginning of a word nor its likeness to another tells how it goes on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate

from trainferry.train.data.render.words.dice import Dice

Lists = Mapping[str, Sequence[str]]

_TRIPLES = re.compile(r"(.)\1\1+")
_TWIN_VOWELS = re.compile(r"([aeiouyéè])\1+")
_LETTERS = 2 * "abcdefghijklmnopqrstuvwxyz" + "éèêëàâçîïôûü"
_SYLLABLES = (1, 2, 3, 4)
_SYLLABLE_SUMS = tuple(accumulate((0.12, 0.46, 0.32, 0.1)))
_SHORTEST, _LONGEST = 3, 14


def compose(dice: Dice, lists: Lists) -> str:
    """Join a beginning, perhaps a middle, and an end."""
    middle = dice.pick(lists["middle"]) if dice.chance(0.35) else ""
    word = dice.pick(lists["start"]) + middle + dice.pick(lists["end"])
    return _TWIN_VOWELS.sub(r"\1", _TRIPLES.sub(r"\1\1", word)).capitalize()


def invent(dice: Dice, lists: Lists) -> str:
    """Make a word up in one of the three ways."""
    how = dice.fraction()
    if how < 0.4:
        return compose(dice, lists)
    if how < 0.75:
        return spell(dice, lists)
    return distort(dice.pick(lists[dice.pick(("surname", "town", "first"))]), dice)


def spell(dice: Dice, lists: Lists) -> str:
    """Join groups of consonants and vowels; any may follow any."""
    parts: list[str] = []
    for number in range(dice.pick_weighted(_SYLLABLES, _SYLLABLE_SUMS)):
        if number or dice.chance(0.85):
            between = "between" if number and dice.chance(0.45) else "onset"
            parts.append(dice.pick(lists[between]))
        parts.append(dice.pick(lists["vowel"]))
    if dice.chance(0.65):
        parts.append(dice.pick(lists["coda"]))
    word = _TRIPLES.sub(r"\1\1", "".join(parts))[:_LONGEST]
    return word.capitalize() if len(word) >= _SHORTEST else spell(dice, lists)


def distort(word: str, dice: Dice) -> str:
    """Change, drop, add, double or swap one to three letters behind the first."""
    letters = list(word.lower())
    for _ in range(dice.whole(1, 3)):
        place = dice.whole(1, max(1, len(letters) - 1))
        how = dice.fraction()
        if how < 0.45:
            letters[place : place + 1] = dice.pick(_LETTERS)
        elif how < 0.6 and len(letters) > _SHORTEST:
            del letters[place : place + 1]
        elif how < 0.75:
            letters.insert(place, dice.pick(_LETTERS))
        elif how < 0.87:
            letters[place:place] = letters[place - 1]
        else:
            letters[place : place + 2] = letters[place : place + 2][::-1]
    changed = _TRIPLES.sub(r"\1\1", "".join(letters))[: _LONGEST + 2]
    return "-".join(part.capitalize() for part in changed.split("-"))
