"""How well texts are spelt: sums over samples that are divided once, and the mistakes.

Beside the exact scores stand those of the TensorFlow original, which forgive what is read
behind the end of a text. Shapes: B samples, L characters, K classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import torch

from trainferry.train.mistakes import Mistakes
from trainferry.train.score import WordScore, choose_protocol
from trainferry.train.tasks.task import Example

if TYPE_CHECKING:
    from torch import Tensor

    from trainferry.train.data.batches import Batch
    from trainferry.train.tasks.spell import SignReading, Spell

EXAMPLES = 8

_SUMS = ("loss", "signs", "right_original", "characters_original", "empty", "unreadable")


@dataclass
class SpellScore:
    """Counts what was read and keeps a few samples, mistakes first.

    The scores in `words` follow the protocol; the sums beside them are of every sample.
    """

    task: Spell
    words: WordScore
    loss: float = 0.0
    signs: float = 0.0
    right_original: float = 0.0
    characters_original: float = 0.0
    empty: float = 0.0
    unreadable: float = 0.0
    mistakes: Mistakes = field(default_factory=Mistakes)
    _wrong: list[Example] = field(default_factory=list)
    _right: list[Example] = field(default_factory=list)

    @classmethod
    def of(cls, task: Spell) -> Self:
        return cls(task, WordScore(choose_protocol(task.protocol)))

    @property
    def primary(self) -> str:
        return "sequence_accuracy"

    def add(self, logits: Tensor, batch: Batch) -> None:
        with torch.no_grad():
            losses = self.task.losses(logits, batch)
            shares, right = original_scores(logits, batch, self.task.charset.null)
        valid = batch.valid.cpu()
        shares, has_text = shares.cpu()[valid], (batch.lengths > 0).cpu()[valid]
        self.loss += float(losses.cpu()[valid].double().sum())
        self.signs += int(valid.sum())
        self.right_original += int(right.cpu()[valid].sum())
        self.characters_original += float(shares[has_text].double().sum())
        self.empty += int((~has_text).sum())
        self.unreadable += int(batch.skipped)

        texts = batch.texts or [self.task.charset.decode(codes) for codes in batch.labels.tolist()]
        rows = zip(
            valid.tolist(), texts, batch.positions.tolist(), self.task.read(logits), strict=True
        )
        for is_sample, truth, position, reading in rows:
            if is_sample:
                self._add_text(truth, position, reading)

    def merge(self, other: Self) -> None:
        self.words.merge(other.words)
        for name in _SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.mistakes.merge(other.mistakes)
        self._wrong = (self._wrong + other._wrong)[:EXAMPLES]
        self._right = (self._right + other._right)[:EXAMPLES]

    def state(self) -> dict[str, float]:
        return {**self.words.state(), **{name: float(getattr(self, name)) for name in _SUMS}}

    def load_state(self, state: Mapping[str, float]) -> None:
        """Take over sums; examples and mistakes stay those of this process."""
        self.words = WordScore.from_state(self.words.protocol, state)
        for name in _SUMS:
            setattr(self, name, state[name])

    def values(self) -> dict[str, float]:
        """Return the scores of the protocol, those of the original, the mean loss, and the counts.

        The original's character accuracy is not defined for an empty text: such samples are
        counted in `empty`, and it is of the others. Without samples the scores are 0.
        """
        signs = max(self.signs, 1.0)
        return {
            **self.words.values(),
            "sequence_accuracy_original": self.right_original / signs,
            "character_accuracy_original": self.characters_original
            / max(self.signs - self.empty, 1.0),
            "loss": self.loss / signs,
            "empty": self.empty,
            "unreadable": self.unreadable,
        }

    def examples(self) -> list[Example]:
        return (self._wrong + self._right)[:EXAMPLES]

    def details(self) -> dict[str, Any]:
        """Return characters most often taken for others, and the texts read worst."""
        return {
            "confused": [
                {"truth": truth, "read": read, "times": times}
                for truth, read, times in self.mistakes.most_confused(10)
            ],
            "worst": [
                {"truth": truth, "read": read} for truth, read in self.mistakes.worst_words()
            ],
        }

    def _add_text(self, truth: str, position: int, reading: SignReading) -> None:
        protocol = self.words.protocol
        if protocol.counts(truth):
            self.mistakes.add(protocol.fold(truth), protocol.fold(reading.text))
        kept = self._right if self.words.add(truth, reading.text) else self._wrong
        if len(kept) < EXAMPLES:
            kept.append(Example(position, truth, reading.text, reading.confidence))


def original_scores(logits: Tensor, batch: Batch, null: int) -> tuple[Tensor, Tensor]:
    """Return the share of characters read right at their place, and whether all are: B and B.

    What is read where the label has a null is ignored, as in the original; so an empty text
    always is right as a whole, and its share of characters, here 0, is not defined. A text that
    was cut in its label is not right.
    """
    written = batch.labels != null
    right = ((logits.argmax(2) == batch.labels) & written).sum(1)
    return right / batch.lengths.clamp(min=1), right == batch.lengths
