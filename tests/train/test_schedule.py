"""Learning rates at the steps where they turn."""

from __future__ import annotations

import math

import pytest

from trainferry.train.recipe_sections import ScheduleRecipe
from trainferry.train.schedule import learning_rate


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


def test_constant_stays() -> None:
    recipe = ScheduleRecipe("constant", steps=10)
    assert {learning_rate(recipe, 0.5, step) for step in range(12)} == {0.5}
