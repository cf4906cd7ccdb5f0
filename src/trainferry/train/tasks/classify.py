"""The task of networks that name what a photograph shows: loss, variation, score.

Shapes: B samples, K classes of the network (those of the recipe, behind a background if it has
one).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from trainferry.train.data.normalise import normalised, planes_of
from trainferry.train.data.photos.augment import draw_mixture, vary_photos
from trainferry.train.recipe.tasks import PhotoAugment, PhotoPicture
from trainferry.train.scores.classes import ClassScore
from trainferry.train.tasks.diagnose_classes import diagnose_classes
from trainferry.train.tasks.task import Snapshot

if TYPE_CHECKING:
    from torch import Tensor

    from trainferry.train.data.batch import Batch

BACKGROUND = "background"


@dataclass(frozen=True)
class Classify:
    """Names photographs. `classes` are the names of the labels 1, 2, … of the records."""

    classes: tuple[str, ...]
    background: bool = True
    label_smoothing: float = 0.0
    picture: PhotoPicture = field(default_factory=PhotoPicture)
    augment: PhotoAugment = field(default_factory=PhotoAugment)

    @property
    def outputs(self) -> int:
        """The number of classes of the network."""
        return len(self.names)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What each class of the network stands for."""
        return (BACKGROUND, *self.classes) if self.background else self.classes

    @property
    def first_label(self) -> int:
        """The label that records have for class 0 of the network."""
        return 0 if self.background else 1

    def inputs(self, images: Tensor) -> Tensor:
        return normalised(planes_of(images), self.picture)

    def vary(self, batch: Batch) -> tuple[Tensor, Batch]:
        if not self.augment.changes_values:
            return self.inputs(batch.images), batch
        values = planes_of(batch.images).float()
        values = vary_photos(values, self.augment, self.picture.mean, batch.share)
        mixture = draw_mixture(self.augment, values.shape[2], values.shape[3])
        if mixture is not None:
            values = mixture.pictures(values)
            shares = self.shares(batch.labels)
            batch = dataclasses.replace(batch, soft=mixture.targets(shares))
        return normalised(values, self.picture), batch

    def shares(self, labels: Tensor) -> Tensor:
        """Return the share of each class that a network should answer, B K, smoothed."""
        one_hot = functional.one_hot(labels, self.outputs).float()
        return one_hot * (1 - self.label_smoothing) + self.label_smoothing / self.outputs

    def hints(self, batch: Batch) -> tuple[Tensor, ...]:
        del batch
        return ()

    def losses(self, logits: Tensor, batch: Batch) -> Tensor:
        """Return the cross-entropy; labels are smoothed over all classes, as TensorFlow does."""
        answered = torch.log_softmax(logits.float(), 1)
        if batch.soft is not None:
            return -(batch.soft * answered).sum(1)
        losses = -answered.gather(1, batch.labels[:, None]).squeeze(1)
        if self.label_smoothing:
            losses = torch.lerp(losses, -answered.mean(1), self.label_smoothing)
        return losses

    def new_score(self) -> ClassScore:
        return ClassScore(self)

    def snapshot(self, step: int, loss: float, logits: Tensor) -> Snapshot:
        """Look at a batch; `distinct_share` is that of samples without the commonest answer."""
        answers = logits.argmax(1).bincount(minlength=1)
        commonest = int(answers.max()) / max(int(answers.sum()), 1)
        return Snapshot(step, loss, empty_share=0.0, distinct_share=1 - commonest)

    def diagnose(self, recent: Sequence[Snapshot]) -> str | None:
        return diagnose_classes(recent, self.outputs)
