"""How well texts are spelt: sums over samples that are divided once, and the mistakes.

Beside the exact scores stand those of the TensorFlow original, which forgive what is read
behind the end of a text. Shapes: B samples, L characters, K classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import torch

from trainferry.train.scores.read_texts import ReadTexts
from trainferry.train.scores.words import WordScore, choose_protocol

if TYPE_CHECKING:
    from torch import Tensor

    from trainferry.train.data.batch import Batch
    from trainferry.train.tasks.spell import Spell
    from trainferry.train.tasks.task import Example

_SUMS = ("loss", "signs", "right_original", "characters_original", "empty", "unreadable")


@dataclass
class SpellScore:
    """Counts what was read by a protocol, and sums over every sample beside it."""

    task: Spell
    texts: ReadTexts
    loss: float = 0.0
    signs: float = 0.0
    right_original: float = 0.0
    characters_original: float = 0.0
    empty: float = 0.0
    unreadable: float = 0.0

    @classmethod
    def of(cls, task: Spell) -> Self:
        return cls(task, ReadTexts(WordScore(choose_protocol(task.protocol))))

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

        truths = batch.texts or [self.task.charset.decode(codes) for codes in batch.labels.tolist()]
        readings = self.task.read(logits)
        self.texts.add(batch, truths, ((one.text, one.confidence) for one in readings))

    def merge(self, other: Self) -> None:
        self.texts.merge(other.texts)
        for name in _SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def state(self) -> dict[str, float]:
        return {**self.texts.words.state(), **{name: float(getattr(self, name)) for name in _SUMS}}

    def load_state(self, state: Mapping[str, float]) -> None:
        """Take over sums; examples and mistakes stay those of this process."""
        self.texts.load_state(state)
        for name in _SUMS:
            setattr(self, name, state[name])

    def values(self) -> dict[str, float]:
        """Return the scores of the protocol, those of the original, the mean loss, and the counts.

        The original's character accuracy is not defined for an empty text: such samples are
        counted in `empty`, and it is of the others. Without samples the scores are 0.
        """
        signs = max(self.signs, 1.0)
        return {
            **self.texts.words.values(),
            "sequence_accuracy_original": self.right_original / signs,
            "character_accuracy_original": self.characters_original
            / max(self.signs - self.empty, 1.0),
            "loss": self.loss / signs,
            "empty": self.empty,
            "unreadable": self.unreadable,
        }

    def examples(self) -> list[Example]:
        return self.texts.examples()

    def details(self) -> dict[str, Any]:
        return self.texts.details()


def original_scores(logits: Tensor, batch: Batch, null: int) -> tuple[Tensor, Tensor]:
    """Return the share of characters read right at their place, and whether all are: B and B.

    What is read where the label has a null is ignored, as in the original; so an empty text
    always is right as a whole, and its share of characters, here 0, is not defined. A text that
    was cut in its label is not right.
    """
    written = batch.labels != null
    right = ((logits.argmax(2) == batch.labels) & written).sum(1)
    return right / batch.lengths.clamp(min=1), right == batch.lengths
