"""Gradients averaged over ranks, while the backward pass that makes them still runs.

They are summed in buckets of some megabytes, in the order in which the backward pass reaches
them. Buckets are sent strictly one after the other: ranks that mixed up their order would add
the gradients of different weights.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import torch
from torch import Tensor, nn

from trainferry.devices.collectives import Group, Wait

BUCKET_BYTES = 25 * 2**20


@dataclass
class _Bucket:
    weights: list[Tensor]
    waiting_for: int = 0
    flat: Tensor | None = None
    places: list[Tensor] = field(default_factory=list)  # of the weights in `flat`
    wait: Wait | None = None

    def fill(self) -> Tensor:
        """Copy the gradients side by side; a weight without one leaves zeros."""
        if self.flat is None:
            sizes = [weight.numel() for weight in self.weights]
            self.flat = self.weights[0].new_zeros(sum(sizes))
            self.places = [
                # In the layout of the weight, so that copies need not turn anything.
                torch.as_strided(part, weight.shape, weight.stride(), part.storage_offset())
                for part, weight in zip(self.flat.split(sizes), self.weights, strict=True)
            ]
        else:
            self.flat.zero_()
        places, gradients = self._pairs()
        if gradients:
            torch._foreach_copy_(places, gradients)
        return self.flat

    def empty(self, ranks: int) -> None:
        """Give the weights the mean of what all ranks put in."""
        assert self.flat is not None
        self.flat.div_(ranks)
        places, gradients = self._pairs()
        if gradients:
            torch._foreach_copy_(gradients, places)

    def _pairs(self) -> tuple[list[Tensor], list[Tensor]]:
        found = [
            (place, weight.grad)
            for place, weight in zip(self.places, self.weights, strict=True)
            if weight.grad is not None
        ]
        return [place for place, _ in found], [gradient for _, gradient in found]


class GradientMean:
    """Gives every rank the mean of all ranks' gradients: that of the whole batch.

    Call `begin` before the last backward pass of a step and `finish` behind it. Without
    `overlapping`, everything is sent in `finish`.
    """

    def __init__(
        self,
        network: nn.Module,
        group: Group,
        *,
        overlapping: bool = True,
        bucket_bytes: int = BUCKET_BYTES,
    ) -> None:
        self._group = group
        self._listens = False
        self._next = 0
        trained = [weight for weight in network.parameters() if weight.requires_grad]
        self._buckets = _in_buckets(trained[::-1], bucket_bytes)
        if overlapping and not group.is_alone:
            # Hooks outlive a run that failed. If they held what it had sent, its connections would
            # end with the interpreter, too late for their threads, and the process be aborted.
            here = weakref.ref(self)
            for number, bucket in enumerate(self._buckets):
                for weight in bucket.weights:
                    weight.register_post_accumulate_grad_hook(partial(_tell, here, number))

    def begin(self) -> None:
        self._listens, self._next = not self._group.is_alone, 0
        for bucket in self._buckets:
            bucket.waiting_for = len(bucket.weights)

    def finish(self) -> None:
        if self._group.is_alone:
            return
        self._listens = False
        for bucket in self._buckets[self._next :]:
            self._send(bucket)
        for bucket in self._buckets:
            assert bucket.wait is not None
            bucket.wait()
            bucket.empty(self._group.ranks)
            bucket.wait = None

    def came(self, number: int) -> None:
        """Count a gradient of a bucket, and send what is complete."""
        if not self._listens:
            return
        self._buckets[number].waiting_for -= 1
        while self._next < len(self._buckets) and not self._buckets[self._next].waiting_for:
            self._send(self._buckets[self._next])
            self._next += 1

    def _send(self, bucket: _Bucket) -> None:
        with torch.no_grad():
            bucket.wait = self._group.start_sum(bucket.fill())


def _tell(mean: weakref.ref[GradientMean], number: int, _weight: Tensor) -> None:
    there = mean()
    if there is not None:
        there.came(number)


def _in_buckets(weights: Sequence[Tensor], most_bytes: int) -> list[_Bucket]:
    buckets: list[_Bucket] = []
    size = 0
    for weight in weights:
        own = weight.numel() * weight.element_size()
        if not buckets or size + own > most_bytes or weight.dtype != buckets[-1].weights[0].dtype:
            buckets.append(_Bucket([]))
            size = 0
        buckets[-1].weights.append(weight)
        size += own
    return buckets
