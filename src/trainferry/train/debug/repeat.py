"""A step done again as it was, without an update: same batch, same random numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from trainferry.devices.device import seed_device
from trainferry.train.data.batch import Batch
from trainferry.train.run import Run
from trainferry.train.step import compute_gradients, step_seed


def repeat_gradients(run: Run, batch: Batch, position: int, scale: float) -> Tensor:
    """Compute the gradients of a batch again, with this loss scale; return the loss.

    The weights must be those of the first time. The run is left as it was.
    """
    with _unchanged(run):
        run.scale.value = scale
        run.optimizer.zero_grad(set_to_none=True)
        seed_device(step_seed(run.recipe.loop.seed, position), run.device)
        loss, _ = compute_gradients(run, batch.to(run.device))
    return loss


@contextmanager
def _unchanged(run: Run) -> Iterator[None]:
    scale = run.scale.value
    gradients = [(weight, weight.grad) for weight in run.network.parameters()]
    buffers = [(buffer, buffer.clone()) for buffer in run.network.buffers()]
    try:
        yield
    finally:
        run.scale.value = scale
        for weight, gradient in gradients:
            weight.grad = gradient
        with torch.no_grad():
            for buffer, value in buffers:
                buffer.copy_(value)
