"""Scores of a network over every sample of a set, each counted once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import torch
from torch import nn

from trainferry.devices.precision import full_precision
from trainferry.train.data.batch import Batch
from trainferry.train.data.batches import evaluation_numbers
from trainferry.train.tasks.task import Example, Score, Task

if TYPE_CHECKING:
    from trainferry.train.run import Run

EXAMPLES = 8


@dataclass(frozen=True)
class Evaluation:
    """What an evaluation of all ranks found, the same on each of them."""

    values: dict[str, float]
    primary: str
    examples: tuple[Example, ...]


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


def evaluate_together(run: Run) -> Evaluation:
    """Score the validation set of a run, every rank some batches of it.

    The sums of each batch stay apart until all are known, and are then added in the order of the
    batches: the scores are equal to the last bit for any number of ranks.
    """
    assert run.validation is not None
    whole = evaluation_numbers(len(run.validation), run.evaluation_size)
    own = evaluation_numbers(len(run.validation), run.evaluation_size, run.share)
    names = list(run.task.new_score().state())
    sums = torch.zeros(len(whole), len(names), dtype=torch.float64)
    examples: list[Example] = []
    for number, batch in zip(own, run.validation_batches(), strict=True):
        score = evaluate(run.network, run.task, [batch], run.device)
        state = score.state()
        sums[number] = torch.tensor([state[name] for name in names], dtype=torch.float64)
        examples = _shown([*examples, *score.examples()])
    run.group.sum(sums)  # of every row, all ranks but one have zeros
    total = run.task.new_score()
    total.load_state(dict(zip(names, sums.sum(0).tolist(), strict=True)))
    told = run.group.gather([asdict(example) for example in examples])
    everywhere = [Example(**fields) for each in told for fields in each]
    return Evaluation(total.values(), total.primary, tuple(_shown(everywhere)))


def _shown(examples: list[Example]) -> list[Example]:
    """Keep a few, mistakes first, in their order in the set."""
    return sorted(examples, key=lambda each: (each.truth == each.read, each.position))[:EXAMPLES]
