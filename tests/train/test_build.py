"""What is told while a run is made of its recipe."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.train.cases import CASES, CPU
from trainferry.errors import RecipeError
from trainferry.train.build import build_run, count_workers


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_a_run_says_at_once_that_its_precision_is_slow_here(tmp_path: Path, precision: str) -> None:
    case = CASES[-1]
    recipe = case.recipe(f"precision.name={precision}")
    said: list[str] = []
    build_run(recipe, case.make_data(tmp_path / "data"), tmp_path / "run", CPU, said.append)
    assert any("fp16 takes most CPUs" in each for each in said) == (precision == "fp16")


def test_a_machine_is_not_filled_with_processes_that_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    case = CASES[-1]
    assert count_workers(case.recipe("data.workers=32")) == 32
    assert count_workers(case.recipe("data.workers=-1")) == 1
    with pytest.raises(RecipeError, match="workers is 1,000, and this machine has 2 cores"):
        count_workers(case.recipe("data.workers=1000"))
