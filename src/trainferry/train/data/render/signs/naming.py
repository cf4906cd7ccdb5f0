"""Names of streets joined by rule: a type, link words and a name, as French does it.

Half of the proper names are invented, so that a network has to read them. Names for training are
drawn `widely`: more of them are invented and in more ways, and they have more figures.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from trainferry.train.data.render.signs.inventing import compose, distort, invent
from trainferry.train.data.render.signs.street import LINKS, Role, Street, Word, without_accents
from trainferry.train.data.render.words.dice import Dice

_LISTS = Path(__file__).parent / "assets" / "streets.toml"
_VOWELS = "aeiouyh"
_WORDS = re.compile(r"[^\s']+'?")


def draw_street(dice: Dice, *, widely: bool = False) -> Street:
    material = _material(widely)
    kind = dice.pick_weighted(material.types, material.type_sums)
    if kind.endswith(("e Rue", "d Rue")):
        return Street(tuple(Word(part, "type") for part in kind.split()))
    sums = _WIDE_SUMS if widely else _NAME_SUMS
    name = dice.pick_weighted(_NAMES, sums)(dice, material)
    return Street((Word(kind, "type"), *name))


def draw_town(dice: Dice) -> str:
    """Return the name of a town, real or not."""
    lists = _material(False).lists
    return compose(dice, lists) if dice.chance(0.5) else dice.pick(lists["town"])


def street_types() -> tuple[str, ...]:
    return _material(False).types


@dataclass(frozen=True)
class _Material:
    types: tuple[str, ...]
    type_sums: tuple[float, ...]
    titles: tuple[str, ...]
    title_sums: tuple[float, ...]
    lists: dict[str, tuple[str, ...]]
    widely: bool


@lru_cache(maxsize=2)
def _material(widely: bool) -> _Material:
    data = tomllib.loads(_LISTS.read_text(encoding="utf-8"))
    lists = {name: tuple(text.split()) for name, text in data["lists"].items()}
    lists |= {name: _lines(text) for name, text in data["nouns"].items()}
    lists |= {name: tuple(text.split()) for name, text in data["adjectives"].items()}
    lists |= {name: tuple(text.split()) for name, text in data["invented"].items()}
    lists |= {name: tuple(text.split()) for name, text in data["spelled"].items()}
    lists["dates"] = _lines(data["dates"]["all"])
    lists["months"] = tuple(data["dates"]["months"].split())
    return _Material(*_weighted(data["types"]), *_weighted(data["titles"]), lists, widely)


def _lines(text: str) -> tuple[str, ...]:
    return tuple(part for line in text.split("\n") for part in line.split("|") if part)


def _weighted(table: dict[str, Any]) -> tuple[tuple[str, ...], tuple[float, ...]]:
    return tuple(table), tuple(accumulate(table.values()))


def _of(noun: str, *, invented: bool = False) -> tuple[Word, ...]:
    """Link a noun with its article: `le Moulin` gives `du Moulin`."""
    for article, links in (("le ", "du"), ("les ", "des"), ("la ", "de la"), ("l'", "de l'")):
        if noun.startswith(article):
            return (*_words(links, "link"), *_noun(noun.removeprefix(article), invented))
    elides = without_accents(noun)[0].lower() in _VOWELS
    return (Word("d'" if elides else "de", "link"), *_noun(noun, invented))


def _noun(noun: str, invented: bool) -> tuple[Word, ...]:
    return tuple(
        Word(part, "link") if part in LINKS else Word(part, "name", invented)
        for part in _WORDS.findall(noun)
    )


def _words(text: str, role: Role) -> tuple[Word, ...]:
    return tuple(Word(part, role) for part in text.split())


def _surname(dice: Dice, material: _Material) -> Word:
    if dice.chance(0.7 if material.widely else 0.55):
        return Word(_invented(dice, material), "name", invented=True)
    return Word(dice.pick(material.lists["surname"]), "name")


def _invented(dice: Dice, material: _Material) -> str:
    return (invent if material.widely else compose)(dice, material.lists)


def _person(dice: Dice, material: _Material) -> tuple[Word, ...]:
    name = _surname(dice, material)
    kind = dice.fraction()
    if kind < 0.12:
        return (name,)
    first = dice.pick(material.lists["first" if kind < 0.93 else "double_first"])
    if material.widely and dice.chance(0.12):
        return (Word(distort(first, dice), "first", invented=True), name)
    if dice.chance(0.15):  # hyphens come and go on plates; the text follows the plate
        return (*_words(first.replace("-", " "), "first"), name)
    return (Word(first, "first"), name)


def _titled(dice: Dice, material: _Material) -> tuple[Word, ...]:
    *link, title = _of(dice.pick_weighted(material.titles, material.title_sums))
    who: tuple[Word, ...] = (_surname(dice, material),)
    if dice.chance(0.25):
        who = (Word(dice.pick(material.lists["first"]), "first"), *who)
    elif title.text in ("Général", "Président") and dice.chance(0.1):
        who = (Word("de", "link"), Word("Gaulle", "name"))
    linked = (
        (*link, Word(title.text, "title")) if dice.chance(0.85) else (Word(title.text, "title"),)
    )
    return (*linked, *who)


def _saint(dice: Dice, material: _Material) -> tuple[Word, ...]:
    kind = "saint" if dice.chance(0.72) else "sainte"
    title, who = kind.capitalize(), dice.pick(material.lists[kind])
    if dice.chance(0.4):
        return (Word(f"{title}-{who}", "name"),)
    return (Word(title, "title"), Word(who, "name"))


def _town(dice: Dice, material: _Material) -> tuple[Word, ...]:
    kind = dice.fraction()
    if kind < (0.2 if material.widely else 0.35):
        return _of(dice.pick(material.lists["town"]))
    if kind < 0.85:
        return _of(_invented(dice, material), invented=True)
    side = dice.pick(("sur", "sous", "en", "les"))
    other = Word(_invented(dice, material), "name", invented=True)
    return (*_of(_invented(dice, material), invented=True), Word(side, "link"), other)


def _thing(dice: Dice, material: _Material) -> tuple[Word, ...]:
    noun = dice.pick(material.lists[dice.pick(("place", "place", "nature", "trade"))])
    if dice.chance(0.18):
        noun = _described(noun, dice, material)
    elif material.widely and " " in noun and dice.chance(0.2):
        article, _, word = noun.partition(" ")
        return _of(f"{article} {_distorted(word, dice)}", invented=True)
    return _of(noun)


def _distorted(words: str, dice: Dice) -> str:
    """Change the last of the words."""
    *others, last = words.split(" ")
    return " ".join((*others, distort(last, dice)))


def _field(dice: Dice, material: _Material) -> tuple[Word, ...]:
    """An old name of a piece of land, which is in no dictionary: `les Perrelles`."""
    word = _invented(dice, material)
    article = dice.pick(("les ", "les ", "la ", "le "))
    if article == "les ":
        word = word.rstrip("sxz") + "s"
    elif without_accents(word)[0].lower() in _VOWELS:
        article = "l'"
    return _of(article + word, invented=True)


def _described(noun: str, dice: Dice, material: _Material) -> str:
    article, space, rest = noun.partition(" ")
    gender = {"le": "m", "la": "f", "les": "p"}.get(article)
    if not space or gender is None or " " in rest:
        return noun
    if gender == "p" or dice.chance(0.6):
        before = dice.pick(material.lists[f"before_{gender}"])
        return f"{article} {before} {rest}"
    return f"{article} {rest} {dice.pick(material.lists[f'after_{gender}'])}"


def _date(dice: Dice, material: _Material) -> tuple[Word, ...]:
    if material.widely and dice.chance(0.3):
        return _of(f"les {_number(dice)} {_plural(dice, material)}")
    if dice.chance(0.5):
        return _of(dice.pick(material.lists["dates"]))
    year = f" {dice.whole(1789, 1975)}" if dice.chance(0.6) else ""
    return _of(f"le {dice.whole(2, 31)} {dice.pick(material.lists['months'])}{year}")


def _number(dice: Dice) -> int:
    """Return a number of one to four figures, all of them alike often."""
    figures = dice.whole(1, 4)
    return dice.whole(10 ** (figures - 1) + (figures == 1), 10**figures - 1)


def _plural(dice: Dice, material: _Material) -> str:
    while True:
        noun = dice.pick(material.lists[dice.pick(("place", "nature", "trade"))])
        if noun.startswith("les "):
            return noun.removeprefix("les ")


_Namer = Callable[[Dice, _Material], tuple[Word, ...]]
_SHARES: dict[_Namer, float] = {
    _person: 0.34,
    _titled: 0.08,
    _saint: 0.05,
    _town: 0.17,
    _thing: 0.24,
    _field: 0.09,
    _date: 0.03,
}
_NAMES = tuple(_SHARES)
_NAME_SUMS = tuple(accumulate(_SHARES.values()))
_WIDE_SUMS = tuple(accumulate((_SHARES | {_field: 0.12, _date: 0.06}).values()))
