"""A run: all that training changes, and its way into a checkpoint and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.optim import Optimizer

from trainferry.devices.collectives import ALONE, Group
from trainferry.devices.device import pinned_memory_helps
from trainferry.devices.loss_scale import LossScale
from trainferry.errors import CheckpointError
from trainferry.train.averaging import WeightAverage
from trainferry.train.checkpoint import Checkpoint
from trainferry.train.data.batch import Batch
from trainferry.train.data.batches import Source, Unpack, evaluation_batches, training_batches
from trainferry.train.data.share import Share
from trainferry.train.gradients import GradientMean
from trainferry.train.optimizer import optimizer_state, restore_optimizer_state
from trainferry.train.recipe.read import recipe_to_toml
from trainferry.train.recipe.sections import Recipe
from trainferry.train.tasks.task import Task

if TYPE_CHECKING:
    from trainferry.train.sender import Sender
    from trainferry.train.whole_step import WholeStep

MOST_IN_EVALUATION = 256


@dataclass
class Run:
    """What the loop works on. `position` counts batches taken, `step` updates made.

    They part only where a batch overflowed and made no update.
    """

    folder: Path
    recipe: Recipe
    device: torch.device
    network: nn.Module
    task: Task
    optimizer: Optimizer
    scale: LossScale
    average: WeightAverage | None
    source: Source
    validation: Source | None
    workers: int
    captures: bool = False
    is_captured: bool = False  # the network alone, where there are several ranks
    whole: WholeStep | None = None  # from the first step on, where the run asks for it
    sender: Sender | None = None  # from the first step on
    step: int = 0
    position: int = 0
    best_score: float | None = None
    best_step: int | None = None
    evaluations_since_best: int = 0
    seconds: float = 0.0  # of training, over all the times the run was started
    group: Group = ALONE
    gradients: GradientMean | None = None  # of all ranks, where there are several
    unpack: Unpack | None = None  # of batches to train on, where a device decodes their JPEGs

    @property
    def share(self) -> Share:
        """Which part of every batch this rank has."""
        return Share(self.group.rank, self.group.ranks)

    def training_batches(self) -> Iterator[Batch]:
        return training_batches(
            self.source,
            batch=self.recipe.loop.batch,
            seed=self.recipe.loop.seed,
            start=self.position,
            workers=self.workers,
            pinned=pinned_memory_helps(self.device),
            share=self.share,
            parts=self.recipe.optimizer.accumulation,
            unpack=self.unpack,
        )

    @property
    def evaluation_size(self) -> int:
        """The batch of evaluations: that of the recipe, whatever a rank's share of it is.

        So every sample is computed in the same company, and scores do not depend on the ranks.
        """
        return min(self.recipe.loop.batch, MOST_IN_EVALUATION)

    def validation_batches(self) -> Iterator[Batch]:
        assert self.validation is not None
        return evaluation_batches(
            self.validation,
            batch=self.evaluation_size,
            workers=self.workers,
            pinned=pinned_memory_helps(self.device),
            share=self.share,
        )

    def settle(self) -> None:
        """Make `step` and the loss scale exact where only the device knew them; may wait for it."""
        if self.whole is not None:
            self.whole.settle()

    def state(self, scores: dict[str, float] | None = None) -> Checkpoint:
        """Return everything a checkpoint keeps."""
        self.settle()
        facts: dict[str, Any] = {
            "position": self.position,
            "samples": len(self.source),
            "ranks": self.group.ranks,
            "seconds": self.seconds,
            "loss_scale": self.scale.state(),
            "best": {"score": self.best_score, "step": self.best_step},
            "evaluations_since_best": self.evaluations_since_best,
            "scores": scores,
            "recipe": recipe_to_toml(self.recipe),
            "torch": torch.__version__,
        }
        return Checkpoint(
            step=self.step,
            weights=self.network.state_dict(),
            training=optimizer_state(self.optimizer, self.network),
            average=self.average.values if self.average else None,
            facts=facts,
        )

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint of this run."""
        self.whole = None  # what it recorded works on tensors that are replaced here
        facts = checkpoint.facts
        samples = facts.get("samples")
        if samples is not None and samples != len(self.source):
            raise CheckpointError(
                f"this run was trained on {samples} samples, the data now has {len(self.source)}",
                hint="give the data it was started with, or start a new run with --init-from",
            )
        try:
            self.network.load_state_dict(dict(checkpoint.weights))
        except RuntimeError as error:
            raise CheckpointError(
                f"the checkpoint of step {checkpoint.step} does not fit the network: {error}",
                hint="it belongs to another recipe; start a new run folder",
            ) from error
        restore_optimizer_state(self.optimizer, self.network, dict(checkpoint.training))
        if self.average is not None:
            self.average.restore(dict(checkpoint.average or checkpoint.weights))
        self.step = checkpoint.step
        try:
            self.scale.restore(facts["loss_scale"])
            self.position = int(facts["position"])
            self.best_score = facts["best"]["score"]
            self.best_step = facts["best"]["step"]
            self.evaluations_since_best = int(facts["evaluations_since_best"])
            self.seconds = float(facts["seconds"])
        except (KeyError, TypeError, ValueError) as error:
            raise CheckpointError(
                f"the checkpoint.json of step {checkpoint.step} is damaged: {error!r}",
                hint="remove that checkpoint's folder to go on from the one before it",
            ) from error
