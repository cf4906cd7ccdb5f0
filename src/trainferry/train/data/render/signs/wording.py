"""How a name is written on a plate: capitals, small letters, lines, and what the text says then.

The text is the name as on a map. It follows the plate in what can be seen (hyphens, an
accent on a first letter) and knows better where plates are careless: letters stay small
where the plate has capitals, and other accents stay where the capitals lost them. Of an
invented word nobody could know them: its text has the accents that its plate shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from trainferry.train.data.render.signs.lettering import Run
from trainferry.train.data.render.signs.street import Street, Word, join_words, without_accents
from trainferry.train.data.render.words.dice import Dice

LONGEST_LINE = 18


@dataclass(frozen=True)
class Line:
    """One line of a plate; `size` relates its capitals to those of the main line.

    `least` is the size of its smallest letters that have to be read, 0 where there are only
    link words, which follow from the others.
    """

    runs: tuple[Run, ...]
    size: float
    least: float = 0.0

    @property
    def length(self) -> int:
        return sum(len(run.text) for run in self.runs)


@dataclass(frozen=True)
class Wording:
    """The lines of the name, and its text."""

    lines: tuple[Line, ...]
    text: str


@dataclass(frozen=True)
class _Manner:
    """How one plate writes its words."""

    kind: str
    accents: bool
    small: float
    initial: float
    apostrophe: str
    apart: bool


def write_out(street: Street, dice: Dice) -> Wording:
    manner = _Manner(
        kind=dice.pick_weighted(_KINDS, _KIND_SUMS),
        accents=dice.chance(0.55),
        small=dice.between(0.55, 0.85),
        initial=dice.between(0.66, 0.85),
        apostrophe=dice.pick(("'", "\u2019")),
        apart=dice.chance(0.2),
    )
    groups = _break_lines(street.words, dice)
    type_size = dice.between(0.7, 1.05) if dice.chance(0.6) else 1.0
    lines = []
    for place, group in enumerate(groups):
        size = 1.0
        if len(groups) > 1 and all(word.role == "link" for word in group):
            size = dice.between(0.5, 0.85)
        elif len(groups) > 1 and place == 0 and group[0].role == "type":
            size = type_size
        lines.append(Line(_runs(group, manner), size, _least(group, manner) * size))
    return Wording(tuple(lines), _text(street, manner))


def _break_lines(words: tuple[Word, ...], dice: Dice) -> list[tuple[Word, ...]]:
    """Split a name as plates do: the type, perhaps the link words, then the name."""
    kinds = sum(1 for word in words if word.role == "type")
    head, rest = words[:kinds], words[kinds:]
    whole = join_words([word.text for word in words])
    if not rest or (len(whole) <= 13 and dice.chance(0.15)):
        return [words]
    links = next((i for i, word in enumerate(rest) if word.role != "link"), 0)
    links = links if rest[links - 1].text[-1] != "'" else 0
    how = dice.fraction()
    if head and links and how < 0.2:
        lines = [(*head, *rest[:links]), *_wrapped(rest[links:], dice)]
    elif head and links and how < 0.36:
        lines = [head, rest[:links], *_wrapped(rest[links:], dice)]
    else:
        lines = [head] if head else []
        lines += _wrapped(rest, dice)
    return lines


def _wrapped(words: tuple[Word, ...], dice: Dice) -> list[tuple[Word, ...]]:
    """Break a long line in two where the halves are most alike."""
    length = len(join_words([word.text for word in words]))
    places = [i for i in range(1, len(words)) if not words[i - 1].text.endswith("'")]
    if not places or (length <= LONGEST_LINE and not (length > 11 and dice.chance(0.15))):
        return [words]

    def unlike(place: int) -> int:
        first, second = words[:place], words[place:]
        return abs(sum(len(w.text) for w in first) - sum(len(w.text) for w in second))

    middle = min(places, key=unlike)
    return [words[:middle], words[middle:]]


def _runs(words: tuple[Word, ...], manner: _Manner) -> tuple[Run, ...]:
    runs: list[Run] = []
    for word in words:
        if runs and (manner.apart or not runs[-1].text.endswith("'")):
            runs.append(Run(" ", runs[-1].size))
        runs += _word_runs(word, manner)
    return tuple(Run(run.text.replace("'", manner.apostrophe), run.size) for run in runs)


def _least(words: tuple[Word, ...], manner: _Manner) -> float:
    return min(
        (
            min(run.size for run in _word_runs(word, manner))
            for word in words
            if word.role != "link"
        ),
        default=0.0,
    )


def _word_runs(word: Word, manner: _Manner) -> list[Run]:
    capitals = word.text.upper()
    capitals = capitals if manner.accents else without_accents(capitals)
    kind, forename = manner.kind, word.role in ("first", "title")
    if _in_small_letters(word, manner):
        return [Run(_cased(word.text, manner))]
    if word.role == "link":
        return [_link_run(word.text, capitals, manner)]
    tall = kind == "initials" or (kind in ("small links", "tall") and forename)
    if tall and capitals[0].isalpha():
        return [Run(capitals[0]), Run(capitals[1:], manner.initial)]
    return [Run(capitals)]


def _in_small_letters(word: Word, manner: _Manner) -> bool:
    return manner.kind == "title" or (manner.kind == "mixed" and word.role in ("first", "title"))


def _link_run(text: str, capitals: str, manner: _Manner) -> Run:
    if manner.kind == "capitals":
        return Run(capitals)
    if manner.kind == "small links":
        return Run(capitals, manner.small)
    return Run(text, manner.small if manner.kind == "tall" else 1.0)


def _cased(text: str, manner: _Manner) -> str:
    keep = manner.accents or text[0].islower()
    return text if keep else without_accents(text[0]) + text[1:]


def _text(street: Street, manner: _Manner) -> str:
    return join_words([_written(word, manner) for word in street.words])


def _written(word: Word, manner: _Manner) -> str:
    if word.invented and not manner.accents and not _in_small_letters(word, manner):
        return without_accents(word.text)
    return _cased(word.text, manner)


_SHARES = {
    "capitals": 0.34,
    "mixed": 0.28,
    "small links": 0.16,
    "tall": 0.07,
    "initials": 0.06,
    "title": 0.09,
}
_KINDS = tuple(_SHARES)
_KIND_SUMS = tuple(accumulate(_SHARES.values()))
