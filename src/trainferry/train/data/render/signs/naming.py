"""Names of streets joined by rule: a type, link words and a name, as French does it.

Half of the proper names are invented from syllables, so that a network has to read them.
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

from trainferry.train.data.render.signs.street import LINKS, Role, Street, Word, without_accents
from trainferry.train.data.render.words.dice import Dice

_LISTS = Path(__file__).parent / "assets" / "streets.toml"
_VOWELS = "aeiouyh"
_WORDS = re.compile(r"[^\s']+'?")


def draw_street(dice: Dice) -> Street:
    material = _material()
    kind = dice.pick_weighted(material.types, material.type_sums)
    if kind.endswith(("e Rue", "d Rue")):
        return Street(tuple(Word(part, "type") for part in kind.split()))
    name = dice.pick_weighted(_NAMES, _NAME_SUMS)(dice, material)
    return Street((Word(kind, "type"), *name))


def draw_town(dice: Dice) -> str:
    """Return the name of a town, real or not."""
    return (
        _invented(dice, _material()) if dice.chance(0.5) else dice.pick(_material().lists["town"])
    )


def street_types() -> tuple[str, ...]:
    return _material().types


@dataclass(frozen=True)
class _Material:
    types: tuple[str, ...]
    type_sums: tuple[float, ...]
    titles: tuple[str, ...]
    title_sums: tuple[float, ...]
    lists: dict[str, tuple[str, ...]]


@lru_cache(maxsize=1)
def _material() -> _Material:
    data = tomllib.loads(_LISTS.read_text(encoding="utf-8"))
    lists = {name: tuple(text.split()) for name, text in data["lists"].items()}
    lists |= {name: _lines(text) for name, text in data["nouns"].items()}
    lists |= {name: tuple(text.split()) for name, text in data["adjectives"].items()}
    lists |= {name: tuple(text.split()) for name, text in data["invented"].items()}
    lists["dates"] = _lines(data["dates"]["all"])
    lists["months"] = tuple(data["dates"]["months"].split())
    return _Material(*_weighted(data["types"]), *_weighted(data["titles"]), lists)


def _lines(text: str) -> tuple[str, ...]:
    return tuple(part for line in text.split("\n") for part in line.split("|") if part)


def _weighted(table: dict[str, Any]) -> tuple[tuple[str, ...], tuple[float, ...]]:
    return tuple(table), tuple(accumulate(table.values()))


def _of(noun: str) -> tuple[Word, ...]:
    """Link a noun with its article: `le Moulin` gives `du Moulin`."""
    for article, links in (("le ", "du"), ("les ", "des"), ("la ", "de la"), ("l'", "de l'")):
        if noun.startswith(article):
            return (*_words(links, "link"), *_noun(noun.removeprefix(article)))
    elides = without_accents(noun)[0].lower() in _VOWELS
    return (Word("d'" if elides else "de", "link"), *_noun(noun))


def _noun(noun: str) -> tuple[Word, ...]:
    return tuple(Word(part, "link" if part in LINKS else "name") for part in _WORDS.findall(noun))


def _words(text: str, role: Role) -> tuple[Word, ...]:
    return tuple(Word(part, role) for part in text.split())


def _surname(dice: Dice, material: _Material) -> str:
    return _invented(dice, material) if dice.chance(0.55) else dice.pick(material.lists["surname"])


def _invented(dice: Dice, material: _Material) -> str:
    lists = material.lists
    middle = dice.pick(lists["middle"]) if dice.chance(0.35) else ""
    word = dice.pick(lists["start"]) + middle + dice.pick(lists["end"])
    return re.sub(r"([aeiouyéè])\1+", r"\1", re.sub(r"(.)\1\1+", r"\1\1", word)).capitalize()


def _person(dice: Dice, material: _Material) -> tuple[Word, ...]:
    name = Word(_surname(dice, material), "name")
    kind = dice.fraction()
    if kind < 0.12:
        return (name,)
    first = dice.pick(material.lists["first" if kind < 0.93 else "double_first"])
    if dice.chance(0.15):  # hyphens come and go on plates; the text follows the plate
        return (*_words(first.replace("-", " "), "first"), name)
    return (Word(first, "first"), name)


def _titled(dice: Dice, material: _Material) -> tuple[Word, ...]:
    *link, title = _of(dice.pick_weighted(material.titles, material.title_sums))
    who: tuple[Word, ...] = (Word(_surname(dice, material), "name"),)
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
    if kind < 0.35:
        return _of(dice.pick(material.lists["town"]))
    if kind < 0.85:
        return _of(_invented(dice, material))
    side = dice.pick(("sur", "sous", "en", "les"))
    other = _invented(dice, material)
    return (*_of(_invented(dice, material)), Word(side, "link"), Word(other, "name"))


def _thing(dice: Dice, material: _Material) -> tuple[Word, ...]:
    noun = dice.pick(material.lists[dice.pick(("place", "place", "nature", "trade"))])
    if dice.chance(0.18):
        noun = _described(noun, dice, material)
    return _of(noun)


def _field(dice: Dice, material: _Material) -> tuple[Word, ...]:
    """An old name of a piece of land, which is in no dictionary: `les Perrelles`."""
    word = _invented(dice, material)
    article = dice.pick(("les ", "les ", "la ", "le "))
    if article == "les ":
        word = word.rstrip("sxz") + "s"
    elif without_accents(word)[0].lower() in _VOWELS:
        article = "l'"
    return _of(article + word)


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
    if dice.chance(0.5):
        return _of(dice.pick(material.lists["dates"]))
    year = f" {dice.whole(1789, 1975)}" if dice.chance(0.6) else ""
    return _of(f"le {dice.whole(2, 31)} {dice.pick(material.lists['months'])}{year}")


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
