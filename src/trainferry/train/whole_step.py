"""A whole step as work on the device alone: recorded once, replayed from then on.

Forward, loss, backward, clipping, update and average read and write tensors that stay where they
are. What changes from step to step is such a tensor too: the batch, the rate (`Pace`), the loss
scale. Where gradients overflow, the device leaves the update out by itself, and the host, which
counts on, learns of it when it asks (`settle`).

On a device that records nothing this is the same work, started operator by operator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from trainferry.devices.capture import Recorded
from trainferry.devices.device import synchronize
from trainferry.devices.lanes import beside
from trainferry.devices.loss_scale import multiply_gradients
from trainferry.devices.precision import autocast, half_of
from trainferry.devices.scale_on_device import ScaleOnDevice
from trainferry.train.kept import Kept
from trainferry.train.kernels.copies import Multiples
from trainferry.train.optimizer import (
    advance,
    clip_gradients,
    let_record,
    set_learning_rate,
    start_state,
    step_unless,
)
from trainferry.train.pace import Pace
from trainferry.train.working_weights import WorkingWeights

if TYPE_CHECKING:
    from trainferry.train.data.batch import Batch
    from trainferry.train.run import Run


class WholeStep:
    """The step of a run that trains alone and does not accumulate."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._pace = Pace(run.recipe, run.average, run.device)
        self._scale = ScaleOnDevice(run.scale, run.device) if run.scale.skips_overflows else None
        self._half = half_of(run.recipe.precision.name)
        self._weights = None if self._half is None else WorkingWeights(run.network, self._half)
        self._multiples = Multiples()
        self._loss = torch.zeros((), device=run.device)
        self._is_settled = True
        self._told: list[Tensor] = []
        self._batch: Batch | None = None
        self._recorded = Recorded(self._work, run.device)
        start_state(run.optimizer)
        let_record(run.optimizer)
        set_learning_rate(run.optimizer, self._pace.rate)

    def __call__(self, told: Sequence[Tensor], batch: Batch) -> tuple[Tensor, Tensor]:
        """Make the next update; return loss and logits. The logits hold until the next call.

        Of batches that overflowed there is no loss: it stays that of the last update.
        """
        if not self._pace.reaches(self._run.step):
            self.settle()
            self._pace.begin(self._run.step)
        self._place(told, batch)
        loss, logits = self._recorded()
        self._is_settled = self._scale is None
        return loss.clone(), logits

    @property
    def is_recorded(self) -> bool:
        return self._recorded.is_recorded

    def settle(self) -> None:
        """Let the run know how many updates there were; waits for the device if it has to."""
        if self._scale is None or self._is_settled:
            return
        facts = torch.cat([self._pace.made(), self._scale.facts()]).tolist()
        self._run.step = self._pace.step(facts[0])
        self._scale.tell(facts[1:])
        self._is_settled = True

    def _place(self, told: Sequence[Tensor], batch: Batch) -> None:
        """Put a batch where the step looks for it; pictures in the format of the first products."""
        kept = self._batch
        if kept is None or not self._fits([*told, *_answers(batch)]):
            if self._recorded.is_recorded:
                # What is still on its way reads tables of the host that are about to be rewritten.
                synchronize(self._run.device)
            self._told = [each.to(self._format(each), copy=True) for each in told]
            self._batch = _without_pictures(batch)
            self._recorded = Recorded(self._work, self._run.device)
            return
        places = [*self._told, *_answers(kept)]
        for place, value in zip(places, [*told, *_answers(batch)], strict=True):
            place.copy_(value)

    def _fits(self, values: Sequence[Tensor]) -> bool:
        assert self._batch is not None
        places = [*self._told, *_answers(self._batch)]
        return [(each.shape, each.dtype) for each in places] == [
            (each.shape, self._format(each) if number < len(self._told) else each.dtype)
            for number, each in enumerate(values)
        ]

    def _format(self, value: Tensor) -> torch.dtype:
        """What autocast would narrow first thing is narrowed on its way."""
        if self._half is not None and value.dtype == torch.float32:
            return self._half
        return value.dtype

    def _work(self) -> tuple[Tensor, ...]:
        run, scale = self._run, self._scale
        assert self._batch is not None
        run.optimizer.zero_grad(set_to_none=True)
        statistics = Kept(run.network.buffers()) if scale is not None else None
        with beside(run.device):
            with autocast(run.device, run.recipe.precision.name):
                logits = (self._weights or run.network)(*self._told)
            loss = run.task.losses(logits, self._batch).mean()
            (loss if scale is None else scale.scale(loss)).backward()
        if self._weights is not None:
            self._weights.collect()
        self._pace.take()
        overflow = None if scale is None else self._unscale(scale)
        if run.recipe.optimizer.clip_norm:
            clip_gradients(run.network, run.recipe.optimizer, self._multiples)
        loss = loss.detach()
        if overflow is None:
            advance(run.optimizer)
        else:
            assert statistics is not None
            step_unless(run.optimizer, overflow)
            statistics.restore_if(overflow > 0)
            loss = torch.where(overflow > 0, self._loss, loss)
            self._pace.share.mul_(1 - overflow)
        if run.average is not None:
            run.average.take_in(self._pace.share)
        self._pace.count(overflow)
        self._loss.copy_(loss)
        return self._loss, logits.detach()

    def _unscale(self, scale: ScaleOnDevice) -> Tensor:
        weights = self._run.network.parameters()
        gradients = [each.grad for each in weights if each.grad is not None]
        overflow = multiply_gradients(gradients, scale.inverse())
        scale.update(overflow)
        return overflow


def _answers(batch: Batch) -> list[Tensor]:
    """What a loss reads of a batch."""
    soft = [] if batch.soft is None else [batch.soft]
    return [batch.labels, batch.lengths, *soft]


def _without_pictures(batch: Batch) -> Batch:
    return replace(
        batch,
        images=batch.images[:0].clone(),
        labels=batch.labels.clone(),
        lengths=batch.lengths.clone(),
        soft=None if batch.soft is None else batch.soft.clone(),
    )
