"""Learning rates at the steps where they turn."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import pytest

from trainferry.train.recipe.read import read_recipe
from trainferry.train.recipe.sections import (
    LoopRecipe,
    OptimizerRecipe,
    Recipe,
    ScheduleRecipe,
)
from trainferry.train.schedule import in_steps, learning_rate, peak_rate

IMAGENET = 1_281_167
ORIGINAL: dict[str, list[tuple[int, float]]] = json.loads(
    (Path(__file__).parent / "files" / "rates.json").read_text()
)
RESNET = Recipe(
    "resnet",
    optimizer=OptimizerRecipe(learning_rate=0.128, rate_for_batch=256),
    schedule=ScheduleRecipe(
        "piecewise",
        factors=(1, 0.1, 0.01, 0.001, 1e-4),
        epochs=90,
        warmup_epochs=5,
        boundary_epochs=(30, 60, 80, 90),
    ),
)
LARGE = Recipe(
    "lars",
    optimizer=OptimizerRecipe("lars", learning_rate=5.0),
    schedule=ScheduleRecipe(
        "polynomial",
        power=2,
        end_learning_rate=1e-4,
        decay_from="warmup",
        epochs=90,
        warmup_epochs=5,
    ),
    loop=LoopRecipe(batch=4096),
)
DENSENET = Recipe(
    "densenet",
    optimizer=OptimizerRecipe(learning_rate=0.1),
    schedule=ScheduleRecipe("cosine", epochs=150, staircase_epochs=1),
    loop=LoopRecipe(batch=256),
)


@pytest.mark.parametrize(
    ("step", "rate"),
    [
        (0, 0.0),
        (7999, 0.01 * 7999 / 8000),
        (8000, 0.5 * 0.01 * (1 + math.cos(math.pi * 8000 / 240_000))),
        (120_000, 0.005),
        (240_000, 0.0),
        (300_000, 0.0),
    ],
)
def test_cosine_is_that_of_the_original(step: int, rate: float) -> None:
    recipe = ScheduleRecipe("cosine", steps=240_000, warmup_steps=8000)
    assert learning_rate(recipe, 0.01, step) == pytest.approx(rate, abs=1e-12)


def test_the_drop_after_the_warm_up_is_the_documented_one() -> None:
    recipe = ScheduleRecipe("cosine", steps=240_000, warmup_steps=8000)
    assert learning_rate(recipe, 0.01, 8000) == pytest.approx(0.0099726, abs=1e-7)


def test_polynomial_is_that_of_upstream() -> None:
    recipe = ScheduleRecipe("polynomial", steps=80_010, power=0.1, end_learning_rate=1e-6)
    expected = (0.01 - 1e-6) * (1 - 40_005 / 80_010) ** 0.1 + 1e-6
    assert learning_rate(recipe, 0.01, 40_005) == pytest.approx(expected)
    assert learning_rate(recipe, 0.01, 80_010) == pytest.approx(1e-6)


def test_piecewise_changes_after_its_boundary_as_in_tensorflow() -> None:
    recipe = ScheduleRecipe("piecewise", steps=100, boundaries=(10, 20), factors=(1.0, 0.1, 0.01))
    assert [learning_rate(recipe, 1.0, step) for step in (10, 11, 20, 21)] == [1.0, 0.1, 0.1, 0.01]


@pytest.mark.parametrize(
    ("step", "angle"),
    [
        (0, 1 + 1 / 6250),
        (3124, 1.5),
        (6249, 2.0),
        (6250, 2 + 1 / 6250),  # the last of the warm-up
        (6251, 2 / 50_000),
        (31_249, 0.5),
        (56_249, 1.0),
        (60_000, 1.0),
    ],
)
def test_two_cosines_are_those_of_the_zoos_resnet(step: int, angle: float) -> None:
    recipe = ScheduleRecipe(name="cosines", steps=56_250, warmup_steps=6_250)
    assert learning_rate(recipe, 0.8, step) == pytest.approx(
        0.8 * 0.5 * (1 + math.cos(math.pi * angle)), abs=1e-12
    )


def test_two_cosines_need_no_warm_up() -> None:
    recipe = ScheduleRecipe(name="cosines", steps=4)
    assert learning_rate(recipe, 1.0, 1) == pytest.approx(0.5)
    assert learning_rate(recipe, 1.0, 3) == pytest.approx(0.0)


def test_the_zoos_epochs_are_of_whole_batches() -> None:
    recipe = in_steps(read_recipe("resnet50_zoo", ["loop.batch=2048"]), IMAGENET)
    assert (recipe.schedule.steps, recipe.schedule.warmup_steps) == (56_250, 6_250)
    assert peak_rate(recipe) == pytest.approx(0.8)


def test_constant_stays() -> None:
    recipe = ScheduleRecipe("constant", steps=10)
    assert {learning_rate(recipe, 0.5, step) for step in range(12)} == {0.5}


def rates(recipe: Recipe, name: str) -> list[tuple[float, float]]:
    """Return our rate and the original's at each step the file has for it."""
    peak = peak_rate(recipe)
    return [(learning_rate(recipe.schedule, peak, step), rate) for step, rate in ORIGINAL[name]]


@pytest.mark.parametrize(
    ("batch", "peak", "warmup", "boundaries"),
    [
        (1024, 0.512, 6255, (37534, 75068, 100091, 112602)),
        (256, 0.128, 25022, (150136, 300273, 400364, 450410)),
        (32, 0.016, 200182, (1201094, 2402188, 3202917, 3603282)),
    ],
)
def test_the_steps_of_the_official_resnet_follow_from_its_epochs(
    batch: int, peak: float, warmup: int, boundaries: tuple[int, ...]
) -> None:
    recipe = in_steps(with_batch(RESNET, batch), IMAGENET)
    assert peak_rate(recipe) == pytest.approx(peak, rel=1e-12)
    assert recipe.schedule.warmup_steps == warmup
    assert recipe.schedule.boundaries == boundaries
    assert recipe.schedule.steps == int(IMAGENET / batch * 90)
    for ours, original in rates(recipe, f"piecewise {batch}"):
        assert ours == pytest.approx(original, rel=3e-7)


def test_the_polynomial_of_the_official_resnet_counts_from_its_warm_up() -> None:
    recipe = in_steps(LARGE, 4096 * 312)
    assert (recipe.schedule.steps, recipe.schedule.warmup_steps) == (28080, 1560)
    for ours, original in rates(recipe, f"polynomial {4096 * 312}"):
        assert ours == pytest.approx(original, rel=1e-6, abs=1e-9)


def test_a_run_of_a_fraction_of_a_step_more_decays_alike() -> None:
    """The original goes on to step 28150.6, ours to 28150."""
    recipe = in_steps(LARGE, IMAGENET)
    for ours, original in rates(recipe, f"polynomial {IMAGENET}"):
        assert ours == pytest.approx(original, abs=1e-4)


def test_densenets_rate_stays_within_an_epoch() -> None:
    recipe = in_steps(DENSENET, IMAGENET)
    assert recipe.schedule.staircase_steps == 5004
    found = rates(recipe, "densenet 256")
    for ours, original in found:
        assert ours == pytest.approx(original, rel=1e-9)
    peak = peak_rate(recipe)
    shown = [round(learning_rate(recipe.schedule, peak, 5004 * e), 6) for e in (0, 29, 149)]
    assert shown == [0.1, 0.091057, 0.000011]


def test_stairs_of_whole_steps_end_before_the_run_does() -> None:
    """Ours runs int(samples / batch * epochs) steps, DenseNet's original a few less."""
    recipe = in_steps(DENSENET, IMAGENET)
    assert recipe.schedule.steps - 150 * 5004 == 83
    assert learning_rate(recipe.schedule, 0.1, 150 * 5004 - 1) > 0
    assert learning_rate(recipe.schedule, 0.1, recipe.schedule.steps) == 0


def test_cosine_can_count_from_its_warm_up() -> None:
    recipe = ScheduleRecipe("cosine", steps=110, warmup_steps=10, decay_from="warmup")
    found = [learning_rate(recipe, 1.0, step) for step in (9, 10, 60, 110, 200)]
    assert found == pytest.approx([0.9, 1.0, 0.5, 0.0, 0.0])


def test_a_staircase_counts_from_the_warm_up_too() -> None:
    recipe = ScheduleRecipe(
        "cosine", steps=110, warmup_steps=10, decay_from="warmup", staircase_steps=50
    )
    found = [learning_rate(recipe, 1.0, step) for step in (10, 59, 60, 109, 110)]
    assert found == pytest.approx([1.0, 1.0, 0.5, 0.5, 0.0])


def test_the_rate_is_in_proportion_to_the_batch_only_when_asked() -> None:
    recipe = with_batch(RESNET, 2048)
    assert peak_rate(recipe) == pytest.approx(1.024)
    plain = dataclasses.replace(recipe, optimizer=OptimizerRecipe(learning_rate=0.128))
    assert peak_rate(plain) == 0.128


@pytest.mark.parametrize(("samples", "epochs"), [(3800, 10.0), (1000, 30.0), (12_800, 50.0)])
def test_the_last_evaluation_does_not_follow_another(samples: int, epochs: float) -> None:
    schedule = dataclasses.replace(RESNET.schedule, epochs=150.0)
    loop = LoopRecipe(batch=128, evaluate_epochs=epochs)
    recipe = in_steps(dataclasses.replace(RESNET, schedule=schedule, loop=loop), samples)
    every, steps = recipe.loop.evaluate_every, recipe.schedule.steps
    assert (steps - 1) % every + 1 > 0.9 * every


def test_whole_epochs_are_whole_steps() -> None:
    recipe = dataclasses.replace(RESNET, loop=LoopRecipe(batch=100, evaluate_epochs=0.7))
    assert in_steps(recipe, 1000).loop.evaluate_every == 7


def test_every_length_in_epochs_becomes_steps_and_a_second_time_changes_nothing() -> None:
    recipe = dataclasses.replace(
        RESNET, loop=LoopRecipe(batch=100, evaluate_epochs=2, save_epochs=0.25)
    )
    once = in_steps(recipe, 1050)
    assert (once.loop.evaluate_every, once.loop.save_every) == (21, 3)
    assert (once.schedule.steps, once.schedule.warmup_steps) == (945, 52)
    assert in_steps(once, 1050) == once


def test_lengths_in_steps_stay_and_none_in_epochs_is_less_than_a_step() -> None:
    plain = Recipe("plain", schedule=ScheduleRecipe("piecewise", 70, 7, boundaries=(5,)))
    assert in_steps(plain, 12345) == plain
    short = Recipe(
        "short",
        schedule=ScheduleRecipe(epochs=0.1, staircase_epochs=0.1),
        loop=LoopRecipe(batch=64, evaluate_epochs=0.1, save_epochs=0.1),
    )
    short = in_steps(short, 3)
    assert (short.schedule.steps, short.schedule.staircase_steps) == (1, 1)
    assert (short.loop.evaluate_every, short.loop.save_every) == (1, 1)


def with_batch(recipe: Recipe, batch: int) -> Recipe:
    return dataclasses.replace(recipe, loop=LoopRecipe(batch=batch))
