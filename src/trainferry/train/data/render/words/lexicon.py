"""What is written: frequent words, names, numbers, codes and invented names, cased as on signs."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from unicodedata import normalize

from trainferry.errors import DataError
from trainferry.train.data.render.words.dice import Dice
from trainferry.train.data.render.words.fonts import FONT_ENDINGS
from trainferry.train.data.text_file import read_text

LONGEST = 23
"""The longest word drawn: longer ones have too few columns per letter in a 100 pixel picture."""

LONGEST_LINE = 32
"""The longest line drawn: recipe `crnn_cn` reads so many characters in 280 pixels."""

_FOLDER = Path(__file__).parent / "assets" / "words"

_SHARES = {
    "signs": 0.16,
    "word 10": 0.15,
    "word 20": 0.11,
    "word 35": 0.12,
    "word 40": 0.02,
    "word 50": 0.04,
    "word 55": 0.01,
    "word 60": 0.01,
    "word 70": 0.02,
    "name 50": 0.12,
    "name 70": 0.04,
    "name 80": 0.05,
    "short 50": 0.02,
}
_NUMBER, _CODE, _INVENTED, _LETTERS, _WEB, _JOINED = 0.09, 0.025, 0.075, 0.025, 0.012, 0.02
_KEEP_LENGTH = (1, 1, 1, 1, 1, 1, 0.95, 0.8, 0.62, 0.48, 0.4, 0.32, 0.27, 0.22, 0.2)

_PUNCTUATED = 0.09

_UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = "0123456789"

_NOT_DRAWN = "no font has its characters"
_WORDS_HINT = (
    f"one word per line, 1 to {LONGEST} characters that the fonts can draw; with --lines texts of "
    f"up to {LONGEST_LINE}"
)
_FONTS_HINT = (
    "pass --fonts FOLDER with a font that has these characters, for Chinese such as "
    "NotoSansCJK-Regular.ttc, on Debian in /usr/share/fonts/opentype/noto (fonts-noto-cjk); "
    f"files that end in {', '.join(FONT_ENDINGS)} are read"
)


@dataclass(frozen=True)
class Text:
    """What is drawn, and its label: of words the letters and digits, of lines all of it."""

    drawn: str
    label: str


@dataclass(frozen=True)
class WordList:
    """The usable words of a user's file, and how many were left out for which reason."""

    words: tuple[str, ...]
    left_out: dict[str, int]


class Lexicon:
    """Draws texts with the lengths, cases and kinds found on signs."""

    def __init__(self, own_words: Sequence[str] = ()) -> None:
        self._sources: list[Callable[[Dice], str]]
        if own_words:
            self._sources, shares = [lambda dice: dice.pick(own_words)], [1.0]
        else:
            groups = read_groups()
            self._chains = _Chains([word for kind in _CHAINED for word in groups[kind]])
            self._sources = [_picker(groups[kind]) for kind in _SHARES]
            self._plain = _picker(groups["signs"] + groups["word 10"] + groups["word 20"])
            self._sources += [number, code, self._chains.draw, initials, self._web, self._joined]
            shares = [*_SHARES.values(), _NUMBER, _CODE, _INVENTED, _LETTERS, _WEB, _JOINED]
        self._sums = list(accumulate(shares))
        self._own = bool(own_words)

    def draw(self, dice: Dice) -> Text:
        """Draw a text with at least one letter or digit and at most LONGEST of them."""
        while True:
            word = dice.pick_weighted(self._sources, self._sums)(dice)
            if self._own or "." in word or dice.chance(_KEEP_LENGTH[min(len(word), 14)]):
                drawn = _punctuated(_cased(word, dice), dice)
                label = "".join(filter(str.isalnum, drawn))
                if 0 < len(label) <= LONGEST and len(drawn) <= LONGEST + 4:
                    return Text(drawn, label)

    def _web(self, dice: Dice) -> str:
        names = "".join(self._plain(dice) for _ in range(dice.whole(1, 2)))
        start = dice.pick(("www.", "www.", "", "info@"))
        return (
            f"{start}{names}{dice.pick(('.com', '.com', '.net', '.org', '.co.uk', '.in', '.de'))}"
        )

    def _joined(self, dice: Dice) -> str:
        """Two words as one: Zero-Emissions, TrinityLeeds."""
        first, second = self._plain(dice).capitalize(), self._plain(dice).capitalize()
        return first + dice.pick(("", "", "-", "-", "/", "&")) + second


class Lines:
    """Draws a user's texts as they are written: nothing changed, added or left out of the label."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines

    def draw(self, dice: Dice) -> Text:
        line = dice.pick(self._lines)
        return Text(line, line)


def read_groups() -> dict[str, list[str]]:
    """Return the bundled words by kind; kinds without a share of their own join the next one."""
    groups: dict[str, list[str]] = {kind: [] for kind in _SHARES}
    groups["signs"] = (_FOLDER / "signs.txt").read_text(encoding="utf-8").split()
    kinds = list(_SHARES)
    with gzip.open(_FOLDER / "english.txt.gz", "rt", encoding="utf-8") as lines:
        kind = ""
        for line in lines:
            entry = line.rstrip("\n")
            if entry.startswith("# "):
                name, size = entry[2:].split()
                same = [k for k in kinds if k.startswith(name + " ")]
                kind = next((k for k in same if int(k.split()[1]) >= int(size)), same[-1])
            else:
                groups[kind].append(entry)
    return groups


def read_words(path: Path, drawable: Callable[[str], bool], *, whole: bool = False) -> WordList:
    """Read a user's words, one per line, and leave out those that cannot be drawn or labelled.

    Labels of `whole` lines keep their punctuation, so that a line needs no letter or digit.
    """
    try:
        # Composed: an accent by itself is no letter, and a label would lose it.
        lines = normalize("NFC", read_text(path, "--words")).split("\n")
    except OSError as error:
        raise DataError(
            f"cannot read the words of {path}: {error.strerror}",
            hint="pass a text file with one word per line",
        ) from error
    left_out = {"too long": 0, "no letter or digit": 0, _NOT_DRAWN: 0}
    words = []
    # White space of any kind is drawn as a space: fonts lack, for example, that of full width.
    for word in filter(None, (" ".join(line.split()) for line in lines)):
        if not whole and not any(map(str.isalnum, word)):
            left_out["no letter or digit"] += 1
        elif len(word) > (LONGEST_LINE if whole else LONGEST):
            left_out["too long"] += 1
        elif not drawable(word.replace(" ", "")):
            left_out[_NOT_DRAWN] += 1
        else:
            words.append(word)
    if not words:
        told = ", ".join(f"{count} {reason}" for reason, count in left_out.items() if count)
        raise DataError(
            f"no usable word in {path}" + (f" ({told})" if told else ""),
            hint=_FONTS_HINT if left_out[_NOT_DRAWN] else _WORDS_HINT,
        )
    return WordList(tuple(words), left_out)


def number(dice: Dice) -> str:
    """House numbers, years, prices, times, phone fragments, quantities, ordinals."""
    return dice.pick_weighted(_NUMBERS, _NUMBER_SUMS)(dice)


def code(dice: Dice) -> str:
    """Plates, routes and model names."""
    kind = dice.fraction()
    if kind < 0.4:
        return _some(_UPPER, dice, dice.whole(1, 3)) + _some(_DIGITS, dice, dice.whole(1, 4))
    if kind < 0.7:
        return _some(_DIGITS, dice, dice.whole(1, 3)) + _some(_UPPER, dice, dice.whole(1, 3))
    return _some(_UPPER + _DIGITS, dice, dice.whole(2, 8))


def initials(dice: Dice) -> str:
    letters = _some(_UPPER + _DIGITS if dice.chance(0.3) else _UPPER, dice, dice.whole(1, 2))
    return "".join(f"{letter}." for letter in letters) if dice.chance(0.3) else letters


def _count(dice: Dice) -> str:
    return _some(_DIGITS, dice, 1 + int(dice.low_between(0, 5.99, 1.4)))


def _year(dice: Dice) -> str:
    return str(dice.whole(1890, 2025))


def _price(dice: Dice) -> str:
    cents = dice.pick(("99", "95", "50", "00", "49"))
    return f"{dice.pick('$$£€')}{dice.whole(1, 199)}.{cents}"


def _clock(dice: Dice) -> str:
    return f"{dice.whole(1, 12)}{dice.pick(':.')}{dice.pick(('00', '15', '30', '45'))}"


def _phone(dice: Dice) -> str:
    return f"{_some(_DIGITS, dice, 3)}{dice.pick(('-', '.', ''))}{_some(_DIGITS, dice, 4)}"


def _quantity(dice: Dice) -> str:
    return f"{dice.whole(1, 100)}{dice.pick(('%', '%', 'am', 'pm', 'AM', 'PM', 'km', 'm'))}"


def _ordinal(dice: Dice) -> str:
    value = dice.whole(1, 120)
    ending = "th" if value // 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
    return f"{value}{ending}"


_NUMBERS = (_count, _year, _price, _clock, _phone, _quantity, _ordinal)
_NUMBER_SUMS = (0.6, 0.72, 0.8, 0.86, 0.92, 0.96, 1.0)

_CHAINED = ("signs", "word 20", "name 50", "name 70", "name 80")


class _Chains:
    """Invents words: each letter follows the two before it as in the words it has seen."""

    def __init__(self, words: Sequence[str]) -> None:
        followers: dict[str, list[str]] = {}
        for word in words:
            padded = f"  {word.lower().replace(chr(39), '')}\n"
            for (first, second), third in zip(pairwise(padded), padded[2:], strict=False):
                followers.setdefault(first + second, []).append(third)
        self._followers = {pair: "".join(letters) for pair, letters in followers.items()}

    def draw(self, dice: Dice) -> str:
        while True:
            word = "  "
            while not word.endswith("\n") and len(word) < LONGEST:
                word += dice.pick(self._followers[word[-2:]])
            if 2 < len(word.strip()) < 14:
                return word.strip().capitalize()


def _picker(words: Sequence[str]) -> Callable[[Dice], str]:
    return lambda dice: dice.pick(words)


def _some(characters: str, dice: Dice, count: int) -> str:
    return "".join(dice.pick(characters) for _ in range(count))


def _cased(word: str, dice: Dice) -> str:
    kind = dice.fraction()
    if kind < 0.58:
        return word.upper()
    if kind < 0.75:
        return word.lower()
    if kind < 0.97:
        return word if word.lower() != word else word.capitalize()
    if kind < 0.98:
        return "".join(dice.pick((c.upper(), c.lower())) for c in word)
    return word


def _punctuated(word: str, dice: Dice) -> str:
    """Draw some words with signs that their label leaves out, as real labels do."""
    if not dice.chance(_PUNCTUATED):
        return word
    kind = dice.fraction()
    if kind < 0.2 and len(word) > 2 and word[-1].isascii():
        drawn = word + ("'S" if word.isupper() else "'s")
    elif kind < 0.3:
        drawn = f'"{word}"' if dice.chance(0.5) else f"({word})"
    elif kind < 0.36:
        drawn = dice.pick(('"', "(", "'", "#", "@", "&", "-")) + word
    else:
        drawn = word + dice.pick(("!", ",", ".", ":", "?", "-", ",", ".", ";", "&", "!!", "..."))
    return drawn
