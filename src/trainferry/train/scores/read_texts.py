"""Texts beside what was read of them: their scores, the mistakes, and a few samples to show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from trainferry.train.scores.mistakes import Mistakes
from trainferry.train.scores.words import WordScore
from trainferry.train.tasks.task import Example

if TYPE_CHECKING:
    from trainferry.train.data.batch import Batch

EXAMPLES = 8


@dataclass
class ReadTexts:
    """Counts what was read and keeps a few samples, mistakes first.

    The scores in `words` and the mistakes follow the protocol.
    """

    words: WordScore
    mistakes: Mistakes = field(default_factory=Mistakes)
    _wrong: list[Example] = field(default_factory=list)
    _right: list[Example] = field(default_factory=list)

    def add(
        self, batch: Batch, truths: Sequence[str], answers: Iterable[tuple[str, float]]
    ) -> None:
        """Count the valid rows of a batch; an answer is what was read, and its confidence."""
        rows = zip(batch.valid.tolist(), truths, batch.positions.tolist(), answers, strict=True)
        for is_sample, truth, position, (read, confidence) in rows:
            if is_sample:
                self._add_one(Example(position, truth, read, confidence))

    def merge(self, other: Self) -> None:
        self.words.merge(other.words)
        self.mistakes.merge(other.mistakes)
        self._wrong = (self._wrong + other._wrong)[:EXAMPLES]
        self._right = (self._right + other._right)[:EXAMPLES]

    def load_state(self, state: Mapping[str, float]) -> None:
        """Take over the sums of `words`; examples and mistakes stay those of this process."""
        self.words = WordScore.from_state(self.words.protocol, state)

    def examples(self) -> list[Example]:
        return (self._wrong + self._right)[:EXAMPLES]

    def details(self) -> dict[str, Any]:
        """Return each character, which is taken for which, and the texts read worst."""
        return {
            "characters": self.mistakes.characters(),
            "confused": [
                {"truth": truth, "read": read, "times": times}
                for truth, read, times in self.mistakes.confused()
            ],
            "worst": [
                {"truth": truth, "read": read} for truth, read in self.mistakes.worst_words()
            ],
        }

    def _add_one(self, sample: Example) -> None:
        protocol = self.words.protocol
        if protocol.counts(sample.truth):
            self.mistakes.add(protocol.fold(sample.truth), protocol.fold(sample.read))
        kept = self._right if self.words.add(sample.truth, sample.read) else self._wrong
        if len(kept) < EXAMPLES:
            kept.append(sample)
