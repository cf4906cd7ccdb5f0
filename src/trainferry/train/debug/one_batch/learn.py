"""Learns one batch by heart, and keeps nothing but what was seen of it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor, nn

from trainferry.devices.precision import autocast
from trainferry.train.build import trial_run
from trainferry.train.data.batch import Batch
from trainferry.train.data.batches import stream_places, stream_positions
from trainferry.train.debug.one_batch.recipe import for_one_batch
from trainferry.train.journal import Ended, Evaluated, Logged, Said
from trainferry.train.loop import RECORDING, Tell
from trainferry.train.recipe.sections import Recipe
from trainferry.train.run import Run
from trainferry.train.schedule import learning_rate, peak_rate
from trainferry.train.step import train_step
from trainferry.train.tasks.task import Example
from trainferry.train.watch import Watch

LOOKS = 15
"""How often a batch is scored while it is learnt."""


@dataclass(frozen=True)
class Seen:
    """How many samples of the batch are right, and what is read of some, mistakes first."""

    right: int
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True)
class Course:
    """How a batch was learnt; `moved` is the way of all trained weights, in their lengths."""

    steps: int
    learning_rate: float
    first_loss: float
    middle_loss: float  # after half of the steps
    last_loss: float
    seen: Seen
    moved: float
    trained_share: float  # of all numbers in the weights


def build_trial(
    recipe: Recipe,
    data: Path | None,
    device: torch.device,
    say: Callable[[str], None],
    steps: int,
) -> Run:
    """Make the run that learns the batch; it has no folder. Readers decode its few pictures."""
    recipe = replace(recipe, data=replace(recipe.data, jpeg="readers"))
    return trial_run(recipe, data, device, say, lambda whole: for_one_batch(whole, steps))


def read_batch(run: Run) -> Batch:
    """Read the first batch of the run's stream, its pictures as evaluations see them."""
    size, seed = run.recipe.loop.batch, run.recipe.loop.seed
    positions = stream_positions(len(run.source), size, seed, 0)
    # As in training, the next sample takes the place of one that cannot be read.
    read = run.source.training_batch(positions, stream_places(size, 0), seed)
    batch = run.source.evaluation_batch(read.positions.numpy(), size)
    return replace(batch, texts=())


def learn_by_heart(run: Run, batch: Batch, tell: Tell) -> Course:
    """Train on the batch until all of it is right, its loss is no number, or the steps are done."""
    steps = run.recipe.schedule.steps
    every = max(1, steps // LOOKS)
    before = [each.detach().clone() for each in _trained(run)]
    run.network.train()
    watch, losses, seen = Watch(run), list[float](), Seen(0)
    if run.captures:
        tell(Said(run.step, RECORDING))
    while run.step < steps and seen.right < len(batch.valid):
        result = train_step(run, batch)
        watch.count(skipped=0)
        if not result.updated:
            continue
        losses.append(float(result.loss))
        if not math.isfinite(losses[-1]):
            break
        if run.step % every == 0 or run.step == steps:
            tell(_logged(run, watch, losses[-1]))
            seen = _look(run, batch, tell)
            watch.restart()
    watch.tick()
    tell(Ended(run.step, _why_ended(losses, seen, batch), round(run.seconds, 3)))
    return Course(
        steps=run.step,
        learning_rate=run.recipe.optimizer.learning_rate,
        first_loss=losses[0],
        middle_loss=losses[len(losses) // 2],
        last_loss=losses[-1],
        seen=seen,
        moved=_distance(before, _trained(run)),
        trained_share=_count(_trained(run)) / _count(list(run.network.parameters())),
    )


def _logged(run: Run, watch: Watch, loss: float) -> Logged:
    seconds = max(time.monotonic() - watch.since, 1e-9)
    schedule = run.recipe.schedule
    return Logged(
        step=run.step,
        loss=loss,
        learning_rate=learning_rate(schedule, peak_rate(run.recipe), run.step - 1),
        images_per_second=watch.batches * run.recipe.loop.batch / seconds,
        waiting_share=0.0,
        seconds_left=watch.seconds_per_step() * (schedule.steps - run.step),
        loss_scale=run.scale.value,
        overflows=run.scale.overflows,
    )


@torch.no_grad()
def _look(run: Run, batch: Batch, tell: Tell) -> Seen:
    """Score the batch as it is learnt, norms with its own statistics, but without dropout."""
    score = run.task.new_score()
    with _without_dropout(run.network), autocast(run.device, run.recipe.precision.name):
        for part in batch.split(run.recipe.optimizer.accumulation):
            there = part.to(run.device)
            score.add(run.network(run.task.inputs(there.images)).float(), there)
    values, examples = score.values(), tuple(score.examples())
    tell(Evaluated(run.step, values, best=False, examples=examples))
    return Seen(round(values[score.primary] * len(batch.valid)), examples)


@contextmanager
def _without_dropout(network: nn.Module) -> Iterator[None]:
    for module in network.modules():
        if isinstance(module, nn.Dropout):
            module.eval()
    try:
        yield
    finally:
        network.train()


def _why_ended(losses: list[float], seen: Seen, batch: Batch) -> str:
    if not math.isfinite(losses[-1]):
        return f"the loss is {losses[-1]}"
    return "all are right" if seen.right == len(batch.valid) else "all steps done"


def _trained(run: Run) -> list[Tensor]:
    return [each for each in run.network.parameters() if each.requires_grad]


def _count(weights: list[Tensor]) -> int:
    return sum(each.numel() for each in weights)


@torch.no_grad()
def _distance(before: list[Tensor], after: list[Tensor]) -> float:
    """Return how far weights moved, in parts of their length."""
    way = sum(
        float((new - old).float().square().sum()) for old, new in zip(before, after, strict=True)
    )
    length = sum(float(old.float().square().sum()) for old in before)
    return math.sqrt(way / max(length, 1e-30))
