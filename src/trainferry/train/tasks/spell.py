"""The task of networks that spell the text of a sign: loss, reading, score.

Shapes: B samples, L characters, K classes (the codes of the charset, the null among them).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from trainferry.train.data.normalise import normalised, planes_of, split_views
from trainferry.train.data.signs.augment import shuffle_views, vary_views
from trainferry.train.data.signs.charset import LONGEST_TEXT, Charset
from trainferry.train.kernels.smoothed import smoothed_losses
from trainferry.train.recipe.tasks import SignAugment, SignPicture
from trainferry.train.scores.signs import SpellScore
from trainferry.train.tasks.diagnose_signs import diagnose_signs
from trainferry.train.tasks.task import Snapshot

if TYPE_CHECKING:
    from torch import Tensor

    from trainferry.train.data.batch import Batch

_NOTHING = SignAugment(crop=0.0, colour=0.0)


@dataclass(frozen=True)
class SignReading:
    """What was read from one sign, up to the first null.

    `confidence` is the geometric mean of the probabilities of the characters and of the null
    that ends them: of texts of any length, higher is surer. `original_confidence` is what the
    TensorFlow original calls normalised: the same, unless characters follow behind a null or
    the text has no end.
    """

    codes: tuple[int, ...]
    text: str
    character_scores: tuple[float, ...]
    confidence: float
    original_confidence: float


@dataclass(frozen=True)
class Spell:
    """Spells texts. With `count_nulls` the places behind a text count in the loss."""

    charset: Charset
    max_length: int = LONGEST_TEXT
    label_smoothing: float = 0.1
    count_nulls: bool = True
    picture: SignPicture = field(default_factory=SignPicture)
    augment: SignAugment = field(default_factory=SignAugment)
    protocol: str = "exact"

    def inputs(self, images: Tensor) -> Tensor:
        return normalised(planes_of(images), self.picture)

    def vary(self, batch: Batch) -> tuple[Tensor, Batch]:
        if self.augment == _NOTHING:
            return self.inputs(batch.images), batch
        views = split_views(planes_of(batch.images), self.picture.views)
        if self.augment.shuffled:
            views = shuffle_views(views, self.picture.views, batch.share)
        varied = vary_views(views, self.augment, batch.share)
        return normalised(varied, self.picture, self.picture.views), batch

    def hints(self, batch: Batch) -> tuple[Tensor, ...]:
        """Tell the network while it learns the right character before each."""
        return (batch.labels,)

    def losses(self, logits: Tensor, batch: Batch) -> Tensor:
        """Return the cross-entropy summed over the characters, with smoothed labels."""
        losses = smoothed_losses(logits, batch.labels, self.label_smoothing)
        if not self.count_nulls:
            losses = losses * (batch.labels != self.charset.null)
        return losses.sum(1)

    @cached_property
    def least_loss(self) -> float:
        """The loss of a perfect answer, where smoothed labels leave one."""
        other = self.label_smoothing / self.charset.classes
        right = 1 - self.label_smoothing + other
        shares = [right] + [other] * (self.charset.classes - 1)
        return -self.max_length * sum(share * math.log(share) for share in shares if share)

    def read(self, logits: Tensor | NDArray[np.floating[Any]]) -> list[SignReading]:
        return read_signs(logits, self.charset)

    def new_score(self) -> SpellScore:
        return SpellScore.of(self)

    def snapshot(self, step: int, loss: float, logits: Tensor) -> Snapshot:
        """Look at a batch; `distinct_share` is 0 when all readings are the same one."""
        readings = [reading.codes for reading in self.read(logits)]
        empty = sum(not codes for codes in readings) / max(len(readings), 1)
        distinct = (len(set(readings)) - 1) / max(len(readings) - 1, 1)
        # One sample alone is not like any other.
        return Snapshot(step, loss, empty, distinct if len(readings) > 1 else 1.0)

    def diagnose(self, recent: Sequence[Snapshot]) -> str | None:
        guessing = self.max_length * math.log(self.charset.classes)
        return diagnose_signs(recent, guessing, self.least_loss)


def read_signs(logits: Tensor | NDArray[np.floating[Any]], charset: Charset) -> list[SignReading]:
    """Read the best class of every place, B L K, up to the first null."""
    best = torch.softmax(torch.as_tensor(logits).float(), 2).max(2)
    # Only two small tensors leave the device, not the scores of all classes.
    scores, classes = best.values.cpu().numpy().astype(np.float64), best.indices.cpu().numpy()
    confidences = _original_confidences(scores, classes != charset.null)
    return [
        _reading(codes, own, confidence, charset)
        for codes, own, confidence in zip(
            classes.tolist(), scores.tolist(), confidences.tolist(), strict=True
        )
    ]


def _reading(
    classes: list[int], scores: list[float], original: float, charset: Charset
) -> SignReading:
    end = classes.index(charset.null) if charset.null in classes else len(classes)
    ended = scores[: end + 1]
    return SignReading(
        codes=tuple(classes[:end]),
        text=charset.decode(classes[:end]),
        character_scores=tuple(scores[:end]),
        confidence=math.prod(ended) ** (1 / max(len(ended), 1)),
        original_confidence=original,
    )


def _original_confidences(
    scores: NDArray[np.float64], written: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """As many characters as are no nulls, wherever they are, and one place behind them."""
    lengths = written.sum(1)
    with np.errstate(divide="ignore"):
        sums = np.pad(np.log(scores), ((0, 0), (0, 1))).cumsum(1)
    confidences = np.exp(sums[np.arange(len(sums)), lengths] / (lengths + 1))
    return np.asarray(confidences, np.float64)
