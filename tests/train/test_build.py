"""What is told while a run is made of its recipe."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.train.cases import CASES, CPU
from trainferry.train.build import build_run


@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_a_run_says_at_once_that_its_precision_is_slow_here(tmp_path: Path, precision: str) -> None:
    case = CASES[-1]
    recipe = case.recipe(f"precision.name={precision}")
    said: list[str] = []
    build_run(recipe, case.make_data(tmp_path / "data"), tmp_path / "run", CPU, said.append)
    assert any("fp16 takes most CPUs" in each for each in said) == (precision == "fp16")
