"""Lower precision is emulated inside TensorFlow, and what it breaks is found with its line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.rehearse.compare.pinned_runs import INSIDE, Pinned
from tests.rehearse.stand_in.tensorflows import INTERPRETERS
from trainferry.rehearse.compare import compare
from trainferry.rehearse.comparing.arrays import read_arrays
from trainferry.rehearse.finding import Finding
from trainferry.rehearse.precision import precision_findings

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("version", INTERPRETERS)]


def line(script: str, mark: str) -> str:
    text = (INSIDE / script).read_text()
    (number,) = [
        n for n, row in enumerate(text.splitlines(), 1) if re.search(f"# line: {mark}", row)
    ]
    return f"{script}:{number}"


def of(findings: list[Finding], check: str) -> list[Finding]:
    return [finding for finding in findings if finding.check == check]


def test_half_precision_bites_where_numbers_do_not_fit(version: str, tmp_path: Path) -> None:
    home = Pinned(version, tmp_path).run("half", INSIDE / "too_small.py", precision="fp16")
    found = precision_findings(home)
    constants = of(found, "precision-constant")
    by_line = {finding.places: finding.message for finding in constants}
    assert by_line[(line("too_small.py", "epsilon"),)] == "the constant 1e-08 becomes 0 in fp16"
    overflow = of(found, "precision-overflow")[0]
    assert overflow.places == (line("too_small.py", "overflow"),)
    assert "(MatMul)" in overflow.message
    underflow = of(found, "precision-underflow")[0]
    assert underflow.message.startswith("100% of the numbers of `gradients/")
    assert underflow.places == (line("too_small.py", "small"),)


def test_the_range_of_bfloat16_is_wide_enough(version: str, tmp_path: Path) -> None:
    home = Pinned(version, tmp_path).run("brain", INSIDE / "too_small.py", precision="bf16")
    assert precision_findings(home) == []


@pytest.mark.parametrize("precision", ["fp16", "bf16"])
def test_weights_keep_what_the_matrix_unit_does_not_see(
    version: str, tmp_path: Path, precision: str
) -> None:
    """1 + 2**-12 is 1 for the matrix unit; updates of 2**-13 * 4 still add up in 32 bits."""
    runs = Pinned(version, tmp_path)
    full = runs.run("full", INSIDE / "in_half.py")
    home = runs.run("half", INSIDE / "in_half.py", follow=full, precision=precision)
    losses = [read_arrays(one / "values/step_1.npz")["loss"].numbers[0] for one in (full, home)]
    assert losses == [10 + 4 * 2**-12, 10.0]
    weights = [read_arrays(one / "values/step_2.npz")["weights/weight"] for one in (full, home)]
    assert weights[0].data == weights[1].data


@pytest.mark.parametrize("kind", ["original", "migrated"])
def test_rounding_shows_in_the_comparison(version: str, tmp_path: Path, kind: str) -> None:
    """In the loop of TensorFlow's LSTM as well as in the single operator of the NPU's."""
    runs = Pinned(version, tmp_path)
    full = runs.run("full", INSIDE / "recurrent.py", kind)
    half = runs.run("half", INSIDE / "recurrent.py", kind, follow=full, precision="fp16")
    comparison = compare(full, half)
    loss = comparison.largest("loss")
    assert loss is not None
    assert 1e-6 < loss.relative < 1e-2
