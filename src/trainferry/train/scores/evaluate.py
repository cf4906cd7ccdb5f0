"""Scores of a network over every sample of a set, each counted once."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import nn

from trainferry.devices.precision import full_precision
from trainferry.train.data.batches import Batch
from trainferry.train.tasks.task import Score, Task


@torch.no_grad()
def evaluate(
    network: nn.Module, task: Task, batches: Iterable[Batch], device: torch.device
) -> Score:
    """Score the network in fp32, whatever it was trained in; it is left in the mode it had."""
    was_training = network.training
    network.eval()
    score = task.new_score()
    try:
        with full_precision(device):
            for batch in batches:
                there = batch.to(device)
                score.add(network(task.inputs(there.images)), there)
    finally:
        network.train(was_training)
    return score
