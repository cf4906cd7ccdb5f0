"""Every planted fault is found with file and line; the clean examples have no finding."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.rehearse.checks.faulty_examples import CLEAN, FAULTY, Example, find_in, run_example
from tests.rehearse.checks.record_examples import RECORDED
from tests.rehearse.stand_in.tensorflows import python_for
from trainferry.rehearse.catalogue import all_checks
from trainferry.rehearse.finding import Finding, Severity

# Made by a comparison, a precision or a rehearsal as a whole; they have tests of their own.
ELSEWHERE = {
    "free-draws",
    "names-differ",
    "not-compared",
    "not-inferred",
    "not-repeatable",
    "numbers-differ",
    "precision-constant",
    "precision-not-emulated",
    "precision-overflow",
    "precision-underflow",
    "ranks-stalled",
    "run-hangs",
    "weights-copied",
}
# What goes with a fault by its nature.
ALSO = {"no-allreduce": {"weights-differ"}}

each_fault = pytest.mark.parametrize("example", FAULTY, ids=lambda example: example.name)
each_clean = pytest.mark.parametrize("example", CLEAN, ids=lambda example: example.name)
each_tensorflow = pytest.mark.parametrize("version", ["1.15", "2.15"])


@each_fault
def test_recorded_faults_are_found_in_their_lines(example: Example, tmp_path: Path) -> None:
    check_found(example, find_in(recorded(example, tmp_path), example.path.name))


@each_clean
def test_recorded_clean_scripts_have_no_finding(example: Example, tmp_path: Path) -> None:
    assert find_in(recorded(example, tmp_path), example.path.name) == []


@pytest.mark.slow
@each_tensorflow
@each_fault
def test_faults_are_found_in_their_lines(example: Example, version: str, tmp_path: Path) -> None:
    run_example(example, python_for(version), tmp_path / "run")
    check_found(example, find_in(tmp_path / "run", example.path.name))


@pytest.mark.slow
@each_tensorflow
@each_clean
def test_clean_scripts_have_no_finding(example: Example, version: str, tmp_path: Path) -> None:
    run_example(example, python_for(version), tmp_path / "run")
    assert find_in(tmp_path / "run", example.path.name) == []


def test_every_check_has_a_planted_fault() -> None:
    planted = {example.check for example in FAULTY}
    assert planted == set(all_checks()) - ELSEWHERE
    assert all(example.path.stem == example.check.replace("-", "_") for example in FAULTY)


def test_checkpoints_at_other_steps_than_asked_are_a_risk(tmp_path: Path) -> None:
    example = next(one for one in FAULTY if one.check == "loop-and-saving")
    (finding,) = find_in(recorded(example, tmp_path), example.path.name)
    assert finding.severity is Severity.RISK


def check_found(example: Example, findings: list[Finding]) -> None:
    found = [one for one in findings if one.check == example.check]
    assert found, [one.check for one in findings]
    assert example.place in {place for one in found for place in one.places}
    others = {one.check for one in findings} - {example.check}
    assert others <= ALSO.get(example.check, set())


def recorded(example: Example, folder: Path) -> Path:
    with zipfile.ZipFile(RECORDED) as archive:
        names = [name for name in archive.namelist() if name.startswith(f"{example.name}/")]
        archive.extractall(folder, names)
    (folder / example.name / "work").mkdir()
    (folder / example.name / "work" / example.path.name).write_bytes(example.path.read_bytes())
    return folder / example.name
