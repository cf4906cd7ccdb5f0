"""The learning rate of each step, in closed form: a run can start at any step."""

from __future__ import annotations

import math

from trainferry.train.recipe_sections import ScheduleRecipe


def learning_rate(recipe: ScheduleRecipe, peak: float, step: int) -> float:
    """Return the rate of the update that takes the weights from `step` to `step + 1`.

    As in the originals, the decay counts from step 0, not from the end of the
    warm-up, and the very first update of a warm-up has a rate of 0.
    """
    if step < recipe.warmup_steps:
        return peak * step / recipe.warmup_steps
    end = recipe.end_learning_rate
    done = min(step, recipe.steps) / recipe.steps
    if recipe.name == "cosine":
        return end + (peak - end) * 0.5 * (1 + math.cos(math.pi * done))
    if recipe.name == "polynomial":
        return end + (peak - end) * float((1 - done) ** recipe.power)
    if recipe.name == "piecewise":
        passed = sum(step > boundary for boundary in recipe.boundaries)
        return peak * recipe.factors[passed]
    return peak
