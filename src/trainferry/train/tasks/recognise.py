"""The task of networks that read a line of text: CTC loss, decoding, score.

Shapes: B samples, T columns, K classes (characters of the alphabet, then the blank).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import torch

from trainferry.train.data.inputs import network_input
from trainferry.train.recipe.tasks import WordAugment, WordPicture
from trainferry.train.scores.read_texts import ReadTexts
from trainferry.train.scores.words import WordScore, choose_protocol
from trainferry.train.tasks.ctc import ctc_losses, impossible_labels
from trainferry.train.tasks.decode import Reading, greedy
from trainferry.train.tasks.diagnose import diagnose_reading
from trainferry.train.tasks.task import Example, Snapshot

if TYPE_CHECKING:
    from torch import Tensor

    from trainferry.train.data.batch import Batch
    from trainferry.train.data.words.alphabet import Alphabet


@dataclass(frozen=True)
class Recognise:
    """Reads text. `merge_repeated=False` scores as the originals do while training."""

    alphabet: Alphabet
    max_length: int
    merge_repeated: bool = True
    protocol: str = "exact"
    picture: WordPicture = field(default_factory=WordPicture)
    augment: WordAugment = field(default_factory=WordAugment)

    def inputs(self, images: Tensor) -> Tensor:
        return network_input(images, self.picture)

    def vary(self, batch: Batch) -> tuple[Tensor, Batch]:
        return network_input(batch.images, self.picture, self.augment, batch.share), batch

    def hints(self, batch: Batch) -> tuple[Tensor, ...]:
        del batch
        return ()

    def losses(self, logits: Tensor, batch: Batch) -> Tensor:
        return ctc_losses(logits, batch.labels, batch.lengths)

    def read(self, logits: Tensor) -> list[Reading]:
        return greedy(logits, merge_repeated=self.merge_repeated)

    def text(self, reading: Reading) -> str:
        return self.alphabet.decode(reading.classes)

    def new_score(self) -> RecogniseScore:
        return RecogniseScore(self, ReadTexts(WordScore(choose_protocol(self.protocol))))

    def snapshot(self, step: int, loss: float, logits: Tensor) -> Snapshot:
        readings = [reading.classes for reading in self.read(logits)]
        samples = max(len(readings), 1)
        empty = sum(not classes for classes in readings)
        return Snapshot(step, loss, empty / samples, len(set(readings)) / samples)

    def diagnose(self, recent: Sequence[Snapshot]) -> str | None:
        return diagnose_reading(recent)


@dataclass
class RecogniseScore:
    """What was read by the protocol, and sums of all samples."""

    task: Recognise
    texts: ReadTexts
    loss: float = 0.0
    loss_samples: float = 0.0
    impossible: float = 0.0
    unreadable: float = 0.0

    @property
    def primary(self) -> str:
        return "sequence_accuracy"

    def add(self, logits: Tensor, batch: Batch) -> None:
        with torch.no_grad():
            losses = self.task.losses(logits, batch)
            unfit = impossible_labels(batch.labels, batch.lengths, logits.shape[1])
        valid = batch.valid.cpu()
        self.loss += float(losses.cpu()[valid].double().sum())
        self.loss_samples += int(valid.sum())
        self.impossible += int(unfit.cpu()[valid].sum())
        self.unreadable += int(batch.skipped)

        truths = batch.texts or [
            self.task.alphabet.decode(label[:length])
            for label, length in zip(batch.labels.tolist(), batch.lengths.tolist(), strict=True)
        ]
        readings = self.task.read(logits)
        self.texts.add(batch, truths, ((self.task.text(one), one.confidence) for one in readings))

    def merge(self, other: Self) -> None:
        self.texts.merge(other.texts)
        self.loss += other.loss
        self.loss_samples += other.loss_samples
        self.impossible += other.impossible
        self.unreadable += other.unreadable

    def state(self) -> dict[str, float]:
        return {
            **self.texts.words.state(),
            "loss": self.loss,
            "loss_samples": self.loss_samples,
            "impossible": self.impossible,
            "unreadable": self.unreadable,
        }

    def load_state(self, state: Mapping[str, float]) -> None:
        """Take over sums; the examples stay those of this process."""
        self.texts.load_state(state)
        self.loss = state["loss"]
        self.loss_samples = state["loss_samples"]
        self.impossible = state["impossible"]
        self.unreadable = state["unreadable"]

    def values(self) -> dict[str, float]:
        """Return the scores of the protocol, the mean loss of every sample, and the counts."""
        return {
            **self.texts.words.values(),
            "loss": self.loss / max(self.loss_samples, 1.0),
            "impossible": self.impossible,
            "unreadable": self.unreadable,
        }

    def examples(self) -> list[Example]:
        return self.texts.examples()

    def details(self) -> dict[str, Any]:
        return self.texts.details()
