"""Prefix beam search: the reading whose paths are most probable together.

Graves and Jaitly, 2014, "Towards End-to-End Speech Recognition with Recurrent Neural Networks",
algorithm 1, without a language model.

A beam holds beginnings of readings. Each is kept with two log-probabilities, of its paths that end
in the blank and of those that end in its last character, because only the first may repeat that
character.

Shapes: B samples, T columns, K classes (blank last), W beginnings, X ways to lengthen one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from trainferry.train.tasks.align import align_reading
from trainferry.train.tasks.lexicon import Lexicon
from trainferry.train.tasks.reading import Reading

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def beam(
    logits: Tensor | NDArray[np.floating[Any]],
    width: int = 100,
    lexicon: Lexicon | None = None,
    *,
    classes_per_column: int = 64,
) -> list[Reading]:
    """Return the most probable reading of each picture; see `beam_readings`."""
    found = beam_readings(logits, width, lexicon, best=1, classes_per_column=classes_per_column)
    return [readings[0] for readings in found]


def beam_readings(
    logits: Tensor | NDArray[np.floating[Any]],
    width: int = 100,
    lexicon: Lexicon | None = None,
    *,
    best: int = 5,
    classes_per_column: int = 64,
) -> list[list[Reading]]:
    """Return up to `best` readings of each picture, the most probable first.

    The beam keeps `width` beginnings; without a lexicon each is lengthened only by the
    `classes_per_column` best characters of a column. With a lexicon, beginnings that lead to no
    word of it are not kept, and a beam that holds no whole word at the end is widened until it
    does; if no word fits into the columns the reading is empty, with confidence 0.
    """
    scores = torch.as_tensor(logits).detach()
    log_probabilities = torch.log_softmax(scores.float(), 2).cpu().double().numpy()
    return [
        _read_one(columns, width, lexicon, best, classes_per_column)
        for columns in log_probabilities
    ]


@dataclass
class _Beginnings:
    """All beginnings met so far, numbered; number 0 is the empty one."""

    parents: list[int] = field(default_factory=lambda: [-1])
    lasts: list[int] = field(default_factory=lambda: [-1])
    nodes: list[int] = field(default_factory=lambda: [0])  # in the tree of the lexicon
    numbers: dict[tuple[int, int], int] = field(default_factory=dict)

    def lengthen(self, parent: int, character: int, lexicon: Lexicon | None) -> int:
        number = self.numbers.get((parent, character))
        if number is None:
            number = self.numbers[parent, character] = len(self.parents)
            self.parents.append(parent)
            self.lasts.append(character)
            self.nodes.append(lexicon.follow(self.nodes[parent], character) if lexicon else 0)
        return number

    def spell(self, number: int) -> tuple[int, ...]:
        classes = []
        while number:
            classes.append(self.lasts[number])
            number = self.parents[number]
        return tuple(reversed(classes))


@dataclass
class _Beam:
    numbers: list[int]
    blank: Floats  # W: paths that end in the blank
    character: Floats  # W: paths that end in the last character

    @property
    def total(self) -> Floats:
        return np.logaddexp(self.blank, self.character)


def _read_one(
    log_probabilities: Floats, width: int, lexicon: Lexicon | None, best: int, allowed: int
) -> list[Reading]:
    known, found = _search(log_probabilities, width, lexicon, allowed)
    ranked = sorted(zip(-found.total, found.numbers, strict=True))
    if lexicon:
        ranked = [entry for entry in ranked if lexicon.is_word(known.nodes[entry[1]])]
        if not ranked and len(found.numbers) >= width:
            return _read_one(log_probabilities, 4 * width, lexicon, best, allowed)
    ranked = [entry for entry in ranked if entry[0] < math.inf]
    return [
        align_reading(log_probabilities, known.spell(number), min(math.exp(-loss), 1.0))
        for loss, number in ranked[:best]
    ] or [Reading((), 0.0, (), ())]


def _search(
    log_probabilities: Floats, width: int, lexicon: Lexicon | None, allowed: int
) -> tuple[_Beginnings, _Beam]:
    known = _Beginnings()
    current = _Beam([0], np.zeros(1), np.full(1, -np.inf))
    for column in log_probabilities:
        current = _advance(current, column, known, width, _Choice(lexicon, allowed))
    return known, current


@dataclass(frozen=True)
class _Choice:
    """Which characters may lengthen a beginning."""

    lexicon: Lexicon | None
    classes_per_column: int

    def pairs(
        self, column: Floats, known: _Beginnings, numbers: list[int]
    ) -> tuple[Integers, Integers]:
        """Return rows of the beam and characters, X each, sorted by row and then by character."""
        if self.lexicon:
            following = [self.lexicon.next_classes(known.nodes[number]) for number in numbers]
            rows = np.repeat(np.arange(len(numbers)), [len(classes) for classes in following])
            return rows, np.concatenate(following)
        characters = np.arange(len(column) - 1)
        if self.classes_per_column < len(characters):
            order = np.argpartition(-column[:-1], self.classes_per_column)
            characters = np.sort(order[: self.classes_per_column])
        rows = np.repeat(np.arange(len(numbers)), len(characters))
        return rows, np.tile(characters, len(numbers))


def _advance(old: _Beam, column: Floats, known: _Beginnings, width: int, choice: _Choice) -> _Beam:
    """Return the beam after one more column."""
    lasts = np.array([known.lasts[number] for number in old.numbers])
    total = old.total
    blank = total + column[-1]
    # The empty beginning has no last character; its paths end in the blank only.
    character = np.where(lasts >= 0, old.character + column[lasts], -np.inf)

    rows, added = choice.pairs(column, known, old.numbers)
    longer = np.where(added == lasts[rows], old.blank[rows], total[rows]) + column[added]
    _merge_known(old, known, (rows, added, longer), character, len(column))

    scores = np.concatenate([np.logaddexp(blank, character), longer])
    chosen = np.argsort(-scores, kind="stable")[:width]
    chosen = chosen[scores[chosen] > -np.inf]
    kept = chosen[chosen < len(old.numbers)]
    new = chosen[chosen >= len(old.numbers)] - len(old.numbers)
    numbers = [old.numbers[row] for row in kept.tolist()] + [
        known.lengthen(old.numbers[row], letter, choice.lexicon)
        for row, letter in zip(rows[new].tolist(), added[new].tolist(), strict=True)
    ]
    return _Beam(
        numbers,
        np.concatenate([blank[kept], np.full(len(new), -np.inf)]),
        np.concatenate([character[kept], longer[new]]),
    )


def _merge_known(
    old: _Beam,
    known: _Beginnings,
    extensions: tuple[Integers, Integers, Floats],
    character: Floats,
    classes: int,
) -> None:
    """Move what lengthens one beginning into another of the beam over to that one, in place."""
    rows, added, longer = extensions
    row_of = {number: row for row, number in enumerate(old.numbers)}
    pairs = [
        (row, row_of[known.parents[number]] * classes + known.lasts[number])
        for number, row in row_of.items()
        if known.parents[number] in row_of
    ]
    if not pairs or not len(rows):
        return
    children, keys = np.array(pairs).T
    places = np.minimum(np.searchsorted(rows * classes + added, keys), len(rows) - 1)
    hit = (rows * classes + added)[places] == keys
    children, places = children[hit], places[hit]
    character[children] = np.logaddexp(character[children], longer[places])
    longer[places] = -np.inf
