"""Two recorded runs are compared step by step, and the first tensor that parts is named."""

from __future__ import annotations

import builtins
import math
from pathlib import Path
from typing import Any

import pytest

from tests.rehearse.compare.recorded_runs import INFINITE, NAN, Run, two_runs
from trainferry.rehearse.compare import compare
from trainferry.rehearse.comparing.comparison import Comparison
from trainferry.rehearse.comparing.findings import comparison_findings


def compared(original: Run, migrated: Run, **options: Any) -> Comparison:
    return compare(original.folder, migrated.folder, **options)


def found(comparison: Comparison) -> list[str]:
    return [finding.check for finding in comparison_findings(comparison)]


def test_equal_runs_agree_and_nothing_is_found(tmp_path: Path) -> None:
    comparison = compared(*two_runs(tmp_path))
    assert comparison.agrees
    assert found(comparison) == []
    assert comparison.summary.startswith("1 step agrees to 1e-05; largest difference of loss 0.0")


def test_the_first_step_and_tensor_that_part_are_named(tmp_path: Path) -> None:
    original, migrated = two_runs(tmp_path)
    original.step(2, 0.4, gradients__a=[1, 1, 1], gradients__b=[1, 1, 1], weights__a=[1, 1, 1])
    migrated.step(2, 0.4, gradients__a=[1, 1, 1], gradients__b=[1, 1.1, 1], weights__a=[1, 2, 1])
    comparison = compared(original, migrated)
    assert comparison.parting is not None
    number, tensor = comparison.parting
    assert (number, tensor.kind, tensor.name) == (2, "gradient", "b")
    assert tensor.relative == pytest.approx(0.1)
    assert "part at step 2 of 2, in the gradient of `b` (by 1.0e-01)" in comparison.summary
    assert found(comparison) == ["numbers-differ"]


def test_the_loss_is_named_before_the_gradients(tmp_path: Path) -> None:
    original, migrated = two_runs(tmp_path)
    migrated.step(1, 0.6, gradients__a=[2, 0, -1], weights__a=[0.9, 2, 3.1])
    (finding,) = comparison_findings(compared(original, migrated))
    assert "in the loss" in finding.message
    assert "forward pass" in finding.hint


def test_another_batch_explains_another_loss(tmp_path: Path) -> None:
    original, migrated = two_runs(tmp_path)
    original.batch(1, 11)
    migrated.batch(1, 12)
    migrated.step(1, 0.6, gradients__a=[2, 0, -1], weights__a=[0.9, 2, 3.1])
    (finding,) = comparison_findings(compared(original, migrated))
    assert "in the batch" in finding.message
    assert "other data" in finding.hint


def test_another_check_sum_of_the_batch_alone_says_nothing(tmp_path: Path) -> None:
    original, migrated = two_runs(tmp_path)
    original.batch(1, 11)
    migrated.batch(1, 12)
    assert compared(original, migrated).agrees


def test_a_difference_within_the_tolerance_agrees(tmp_path: Path) -> None:
    original, migrated = two_runs(tmp_path)
    migrated.step(1, 0.500001, gradients__a=[1.000001, 0, -1], weights__a=[0.9, 2, 3.1])
    assert compared(original, migrated).agrees
    assert not compared(original, migrated, tolerance=1e-7).agrees


def test_rounding_errors_of_a_gradient_that_is_nothing_do_not_count(tmp_path: Path) -> None:
    original, migrated = two_runs(tmp_path)
    original.step(1, 0.5, gradients__a=[1, 0, -1], gradients__b=[1e-9, 0, 0])
    migrated.step(1, 0.5, gradients__a=[1, 0, -1], gradients__b=[-2e-9, 0, 0])
    assert compared(original, migrated).agrees


@pytest.mark.parametrize("loss", [NAN, INFINITE])
def test_a_loss_that_is_no_number_in_one_run_parts(tmp_path: Path, loss: float) -> None:
    original, migrated = two_runs(tmp_path)
    migrated.step(1, loss, gradients__a=[1, 0, -1], weights__a=[0.9, 2, 3.1])
    comparison = compared(original, migrated)
    assert "the loss (one is no finite number)" in comparison.summary


def test_numbers_that_are_none_in_both_runs_are_equal(tmp_path: Path) -> None:
    original, migrated = two_runs(tmp_path)
    for run, value in ((original, 2.0), (migrated, 2.000001)):
        run.step(2, NAN, gradients__a=[NAN, INFINITE, value], weights__a=[NAN, 1, 1])
    assert compared(original, migrated).agrees


def test_an_infinity_of_the_other_sign_is_not_equal(tmp_path: Path) -> None:
    original, migrated = two_runs(tmp_path)
    original.step(2, 1, gradients__a=[INFINITE, 1, 1])
    migrated.step(2, 1, gradients__a=[-INFINITE, 1, 1])
    largest = compared(original, migrated).largest("gradient")
    assert largest is not None
    assert largest.relative == math.inf


def test_only_steps_of_both_runs_are_compared(tmp_path: Path) -> None:
    original, migrated = two_runs(tmp_path)
    migrated.step(2, 9.0)
    assert len(compared(original, migrated).trained) == 1


def test_runs_without_a_common_step_do_not_agree(tmp_path: Path) -> None:
    comparison = compared(Run(tmp_path / "original"), Run(tmp_path / "migrated"))
    assert not comparison.agrees
    assert found(comparison) == ["numbers-differ"]


def test_variables_with_other_names_are_compared_by_shape_and_order(tmp_path: Path) -> None:
    original, migrated = Run(tmp_path / "original"), Run(tmp_path / "migrated")
    original.variables({"lstm/kernel": [3], "lstm/bias": [2], "gates": [4]})
    migrated.variables({"dynamicrnn/w": [3], "dynamicrnn/b": [2], "seq_length": [1]})
    original.step(1, 1.0, **{"weights__lstm/kernel": [1, 2, 3]})
    migrated.step(1, 1.0, **{"weights__dynamicrnn/w": [1, 2, 4]})
    comparison = compared(original, migrated)
    assert comparison.partners == (("dynamicrnn/w", "lstm/kernel"), ("dynamicrnn/b", "lstm/bias"))
    assert comparison.only_original == ("gates",)
    assert comparison.only_migrated == ("seq_length",)
    assert comparison.parting is not None
    assert comparison.parting[1].name == "dynamicrnn/w"
    assert found(comparison) == ["numbers-differ", "names-differ", "names-differ"]


def test_what_was_copied_is_told_by_the_names_of_the_migrated_run(tmp_path: Path) -> None:
    original, migrated = two_runs(tmp_path)
    original.variables({"a": [3], "old": [7]})
    migrated.variables({"a": [3], "new": [7]})
    original.told(follows="/elsewhere/migrated", copied=["a", "old"], kept={})
    comparison = compared(original, migrated)
    assert comparison.copied == ("a", "new")
    assert found(comparison) == ["weights-copied", "names-differ"]


def test_gradients_of_other_rows_are_not_compared(tmp_path: Path) -> None:
    original, migrated = two_runs(tmp_path)
    original.step(2, 1, gradients__a=[1, 2, 3], rows__a=[4, 5, 6])
    migrated.step(2, 1, gradients__a=[1, 2, 3], rows__a=[4, 5, 7])
    assert compared(original, migrated).not_compared == ("a",)
    assert found(compared(original, migrated)) == ["not-compared"]


def test_sums_stand_for_what_a_sample_leaves_out(tmp_path: Path) -> None:
    original, migrated = two_runs(tmp_path)
    original.step(2, 1, weights__a=[1, 2, 3], **{"sums__weights/a": [100, 100, 9]})
    migrated.step(2, 1, weights__a=[1, 2, 3], **{"sums__weights/a": [101, 101, 9]})
    largest = compared(original, migrated).largest("weight")
    assert largest is not None
    assert largest.relative == pytest.approx(0.01)


def test_random_operators_without_a_partner_are_told(tmp_path: Path) -> None:
    original, migrated = two_runs(tmp_path)
    migrated.told(follows=str(original.folder))
    migrated.pin("dropout/random_uniform", "name")
    migrated.pin("noise/random_normal", "own")
    migrated.pin("new/Initializer/random_uniform", "own")
    comparison = compared(original, migrated)
    assert comparison.free_draws == ("noise/random_normal",)
    assert found(comparison) == ["free-draws"]


def test_a_small_difference_after_steps_that_agree_looks_like_rounding(tmp_path: Path) -> None:
    original, migrated = two_runs(tmp_path)
    original.step(2, 1.0)
    migrated.step(2, 1.0001)
    (finding,) = comparison_findings(compared(original, migrated))
    assert "rounding that grows" in finding.hint


def test_needs_no_numpy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = builtins.__import__

    def without_numpy(name: str, *args: Any, **kwargs: Any) -> Any:
        assert name.partition(".")[0] != "numpy"
        return plain(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_numpy)
    original, migrated = two_runs(tmp_path)
    migrated.step(1, 0.6, gradients__a=[2, 0, -1])
    assert compared(original, migrated).rows[1]["migrated_loss"] == 0.6
