"""Where an emulated precision bites is told with operator and line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from trainferry.rehearse.finding import Finding
from trainferry.rehearse.precision import precision_findings

EMULATED: dict[str, Any] = {"kind": "emulated", "type": "fp16", "operators": 9, "late": 0}


def findings(folder: Path, *lines: dict[str, Any]) -> list[Finding]:
    text = "".join(json.dumps(line) + "\n" for line in (EMULATED, *lines))
    (folder / "precision.jsonl").write_text(text)
    return precision_findings(folder)


def rounded(operator: str = "a:0", step: int = 1, **counts: int) -> dict[str, Any]:
    line = {"kind": "rounded", "step": step, "operator": operator, "type": "MatMul"}
    return {**line, "place": "net.py:7", "overflow": 0, "underflow": 0, "nonzero": 100, **counts}


def test_a_run_in_full_precision_has_nothing_to_tell(tmp_path: Path) -> None:
    assert precision_findings(tmp_path) == []


def test_an_overflow_is_told_with_operator_line_and_first_step(tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, rounded(step=3, overflow=4), rounded(step=4, overflow=1))
    assert finding.check == "precision-overflow"
    assert finding.places == ("net.py:7",)
    assert finding.message == (
        "5 numbers of `a:0` (MatMul) are beyond fp16 and become infinite, first at step 3"
    )


def test_overflows_are_told_in_the_order_of_their_steps(tmp_path: Path) -> None:
    found = findings(tmp_path, rounded("late:0", 5, overflow=9), rounded("early:0", 2, overflow=1))
    assert [finding.operators[0] for finding in found] == ["early:0", "late:0"]


def test_an_epsilon_that_vanishes_is_told(tmp_path: Path) -> None:
    constant = {"kind": "constant", "operator": "add/y", "place": "net.py:9"}
    (finding,) = findings(tmp_path, {**constant, "value": 1e-8, "becomes": 0.0})
    assert finding.message == "the constant 1e-08 becomes 0 in fp16"
    assert finding.places == ("net.py:9",)


def test_a_mask_that_overflows_is_told(tmp_path: Path) -> None:
    constant = {"kind": "constant", "operator": "mask", "place": "", "value": -1e9}
    (finding,) = findings(tmp_path, {**constant, "becomes": "-inf"})
    assert finding.message == "the constant -1e+09 becomes -inf in fp16"
    assert finding.places == ()


def test_gradients_that_vanish_are_told_by_their_share(tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, rounded(step=1, underflow=20), rounded(step=2, underflow=60))
    assert finding.check == "precision-underflow"
    assert finding.message.startswith("60% of the numbers of `a:0` (MatMul)")


def test_a_few_numbers_that_vanish_are_not_worth_telling(tmp_path: Path) -> None:
    assert findings(tmp_path, rounded(underflow=9)) == []


def test_operators_that_kept_32_bits_are_told(tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, {**EMULATED, "late": 3})
    assert finding.check == "precision-not-emulated"
