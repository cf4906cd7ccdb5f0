"""Which characters are taken for which, and which words are read worst: for reports."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Self

from trainferry.train.scores.class_counts import ClassCounts
from trainferry.train.scores.words import edit_similarity

KEPT_WORDS = 20


@dataclass
class Mistakes:
    """Counts characters beside what was read of them. A missing or added one is told as `""`."""

    _pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    _worst: list[tuple[float, int, str, str]] = field(default_factory=list)
    _words: int = 0

    def add(self, truth: str, read: str) -> None:
        self._words += 1
        if truth == read:
            self._pairs.update(zip(truth, truth, strict=True))
            return
        self._pairs.update(align(truth, read))
        # The order of arrival decides between equally bad words: the first ones stay.
        entry = (-edit_similarity(truth, read), -self._words, truth, read)
        keep = heapq.heappush if len(self._worst) < KEPT_WORDS else heapq.heappushpop
        keep(self._worst, entry)

    def merge(self, other: Self) -> None:
        self._words += other._words
        self._pairs.update(other._pairs)
        self._worst = heapq.nlargest(KEPT_WORDS, self._worst + other._worst)
        heapq.heapify(self._worst)

    def confused(self) -> list[tuple[str, str, int]]:
        """Return truth, reading and how often, of all that is wrong, most often first."""
        ranked = sorted(self._pairs.items(), key=lambda entry: (-entry[1], entry[0]))
        return [(truth, read, times) for (truth, read), times in ranked if truth != read]

    def characters(self) -> list[dict[str, Any]]:
        """Return each character with its counts and scores, the worst F1 first, ready for JSON."""
        names = sorted({character for pair in self._pairs for character in pair} - {""})
        places = {character: place for place, character in enumerate(names)}
        counts = ClassCounts.none(len(names))
        for (truth, read), times in self._pairs.items():
            if truth:
                counts.samples[places[truth]] += times
            if read:
                counts.named[places[read]] += times
            if truth == read:
                counts.right[places[truth]] += times
        scored = [
            {"character": name, **row} for name, row in zip(names, counts.rows(), strict=True)
        ]
        return sorted(scored, key=lambda row: row["f1"])

    def worst_words(self) -> list[tuple[str, str]]:
        """Return truth and reading of the words that were read worst, the worst first."""
        return [(truth, read) for _, _, truth, read in sorted(self._worst, reverse=True)]


def align(truth: str, read: str) -> list[tuple[str, str]]:
    """Pair the characters of two words with as few edits as possible; `""` stands for none."""
    distances = [[row + column for column in range(len(read) + 1)] for row in range(len(truth) + 1)]
    for row, wanted in enumerate(truth, 1):
        for column, got in enumerate(read, 1):
            distances[row][column] = min(
                distances[row - 1][column - 1] + (wanted != got),
                distances[row - 1][column] + 1,
                distances[row][column - 1] + 1,
            )
    pairs = []
    row, column = len(truth), len(read)
    while row or column:
        here = distances[row][column]
        if row and column:
            changed = truth[row - 1] != read[column - 1]
            if here == distances[row - 1][column - 1] + changed:
                row, column = row - 1, column - 1
                pairs.append((truth[row], read[column]))
                continue
        if row and here == distances[row - 1][column] + 1:
            row -= 1
            pairs.append((truth[row], ""))
        else:
            column -= 1
            pairs.append(("", read[column]))
    return pairs[::-1]
