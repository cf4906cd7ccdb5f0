"""The learning rate of each step, in closed form: a run can start at any step."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from trainferry.train.recipe.sections import Recipe, ScheduleRecipe


def learning_rate(recipe: ScheduleRecipe, peak: float, step: int) -> float:
    """Return the rate of the update that takes the weights from `step` to `step + 1`.

    As in the originals, the very first update of a warm-up has a rate of 0.
    """
    if recipe.name == "cosines":
        return peak * _cosines(recipe, step)
    if step < recipe.warmup_steps:
        return peak * step / recipe.warmup_steps
    if recipe.name == "piecewise":
        passed = sum(step > boundary for boundary in recipe.boundaries)
        return peak * recipe.factors[passed]
    end = recipe.end_learning_rate
    return end + (peak - end) * _left(recipe, step)


def peak_rate(recipe: Recipe) -> float:
    """The rate before any decay: the recipe's, or in proportion to the batch."""
    optimizer = recipe.optimizer
    if optimizer.rate_for_batch:
        return optimizer.learning_rate * recipe.loop.batch / optimizer.rate_for_batch
    return optimizer.learning_rate


def in_steps(recipe: Recipe, samples: int) -> Recipe:
    """Turn the lengths that the recipe gives in epochs into steps; others stay as they are.

    An epoch is `samples / batch` steps, a fraction that is cut off only after it was multiplied,
    as the originals do. The stairs of a staircase are epochs of whole steps, as in DenseNet's
    original: after many of them, a few steps of the run are left over. Evaluations and checkpoints
    are rounded up: those of the last epochs then fall on the last step, and not just before it.
    """
    schedule, loop = recipe.schedule, recipe.loop
    per_epoch = samples / loop.batch
    if schedule.whole_epochs:
        per_epoch = max(1, samples // loop.batch)
    steps: dict[str, Any] = {}
    if schedule.epochs:
        steps["steps"] = max(1, int(per_epoch * schedule.epochs))
    if schedule.warmup_epochs:
        steps["warmup_steps"] = int(per_epoch * schedule.warmup_epochs)
    if schedule.boundary_epochs:
        steps["boundaries"] = tuple(int(per_epoch * epoch) for epoch in schedule.boundary_epochs)
    if schedule.staircase_epochs:
        steps["staircase_steps"] = max(1, int(int(per_epoch) * schedule.staircase_epochs))
    every: dict[str, Any] = {}
    if loop.evaluate_epochs:
        every["evaluate_every"] = _whole_steps(per_epoch * loop.evaluate_epochs)
    if loop.save_epochs:
        every["save_every"] = _whole_steps(per_epoch * loop.save_epochs)
    return dataclasses.replace(
        recipe,
        schedule=dataclasses.replace(schedule, **steps),
        loop=dataclasses.replace(loop, **every),
    )


def _whole_steps(length: float) -> int:
    return max(1, math.ceil(round(length, 6)))  # 7.000000000000001 is seven


def _cosines(recipe: ScheduleRecipe, step: int) -> float:
    """The share of the peak in the zoo's ResNet: up and down, always one step ahead."""
    warmup, rest = recipe.warmup_steps, recipe.steps - recipe.warmup_steps
    if step <= warmup and warmup:
        return 0.5 * (1 - math.cos(math.pi * (step + 1) / warmup))
    return 0.5 * (1 + math.cos(math.pi * min((step - warmup + 1) / max(rest, 1), 1.0)))


def _left(recipe: ScheduleRecipe, step: int) -> float:
    """The share of the way from the end to the peak that is still left."""
    if recipe.name == "cosine":
        return 0.5 * (1 + math.cos(math.pi * _done(recipe, step)))
    if recipe.name == "polynomial":
        return float((1 - _done(recipe, step)) ** recipe.power)
    return 1.0


def _done(recipe: ScheduleRecipe, step: int) -> float:
    """The share of the decay that lies behind, from 0 to 1."""
    first, length = 0, recipe.steps
    if recipe.decay_from == "warmup":
        first, length = recipe.warmup_steps, recipe.steps - recipe.warmup_steps
        if recipe.name == "polynomial":
            length += 1  # the official ResNet reaches the end one step after the last
    if recipe.staircase_steps:
        stairs = max(1, round(length / recipe.staircase_steps))
        return min((step - first) // recipe.staircase_steps / stairs, 1.0)
    return min((step - first) / max(length, 1), 1.0)
