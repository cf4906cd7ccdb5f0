"""How far two recorded runs are apart, for the comparison of half batches with whole ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.half_batch import apart

from tests.rehearse.compare.recorded_runs import NAN, two_runs


def test_runs_that_agree_are_not_apart(tmp_path: Path) -> None:
    one, other = two_runs(tmp_path)
    found = apart("gradient", one.folder, other.folder)
    assert (found.steps, found.variables, found.absolute, found.relative) == (1, 1, 0.0, 0.0)
    assert found.is_equal


def test_differences_are_told_as_they_are_and_in_parts_of_the_largest(tmp_path: Path) -> None:
    one, other = two_runs(tmp_path)
    one.step(1, gradients__a=[4, 0, 0], gradients__b=[0.001, 0, 0])
    other.step(1, gradients__a=[4, 0, 0], gradients__b=[0.001, 0, 0.5])
    found = apart("gradient", one.folder, other.folder)
    assert (found.variables, found.absolute, found.relative) == (2, 0.5, 0.125)
    assert not found.is_equal


@pytest.mark.parametrize("number", [NAN, 1.00002])
def test_what_is_no_number_or_beyond_the_tolerance_is_not_equal(
    tmp_path: Path, number: float
) -> None:
    one, other = two_runs(tmp_path)
    other.step(1, gradients__a=[number, 0, -1])
    assert not apart("gradient", one.folder, other.folder).is_equal


def test_runs_of_other_steps_or_variables_are_not_compared(tmp_path: Path) -> None:
    one, other = two_runs(tmp_path)
    other.step(2, gradients__a=[1, 0, -1])
    with pytest.raises(SystemExit, match="have other steps"):
        apart("gradient", one.folder, other.folder)
    one.step(2, gradients__b=[1, 0, -1])
    with pytest.raises(SystemExit, match="have other variables"):
        apart("gradient", one.folder, other.folder)
