"""The recipe that learns one batch by heart: that of the run, less what varies or decays."""

from __future__ import annotations

from dataclasses import replace

from trainferry.train.recipe.sections import Recipe, ScheduleRecipe
from trainferry.train.recipe.tasks import AugmentRecipe, PhotoAugment, SignAugment, WordAugment
from trainferry.train.schedule import learning_rate, peak_rate

_LONGEST_WARMUP = 0.1

_UNVARIED: dict[type, AugmentRecipe] = {
    WordAugment: WordAugment(),
    PhotoAugment: PhotoAugment(flip=0.0),
    SignAugment: SignAugment(crop=0.0, colour=0.0),
}


def for_one_batch(recipe: Recipe, steps: int) -> Recipe:
    """Return the recipe with `steps` steps of a constant rate and pictures that never vary.

    Network, dropout, loss, optimizer, decay of weights and precision stay: they are what is
    tried. A warm-up stays as well, but is a tenth of the steps at most.
    """
    schedule = recipe.schedule
    warmup = min(schedule.warmup_steps, int(_LONGEST_WARMUP * steps))
    return replace(
        recipe,
        augment=_UNVARIED[type(recipe.augment)],
        optimizer=replace(recipe.optimizer, learning_rate=reached_rate(recipe), rate_for_batch=0),
        schedule=ScheduleRecipe(name="constant", steps=steps, warmup_steps=warmup),
        loop=replace(recipe.loop, average=0.0, log_every=1),  # every loss is looked at
    )


def reached_rate(recipe: Recipe) -> float:
    """Return the rate right after the warm-up, or of the last step where the run is shorter."""
    step = min(recipe.schedule.warmup_steps, recipe.schedule.steps - 1)
    return learning_rate(recipe.schedule, peak_rate(recipe), step)
