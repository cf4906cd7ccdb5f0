"""An original whose numbers part from the migrated ones is run again, and compared with itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.rehearse.fake_projects import make_project
from tests.rehearse.fake_pythons import running_python
from trainferry.cli.main import main

# `apart` is what it adds to a weight; `run` counts runs of the original, this one included.
PROGRAM = f"""
import sys
from pathlib import Path

sys.path.append({str(Path(__file__).resolve().parents[2])!r})
import steps
from tests.rehearse.compare.recorded_runs import Run

home = Path(steps.WATCH["folder"])
run = len(list(home.parents[1].glob("original*")))
recorded = Run(home)
recorded.step(0, weights__a=[1, 2, 3], weights__b=[1, 1, 1])
recorded.step(1, 0.5, gradients__a=[1, 0, -1], weights__a=[0.9, 2, 3.1 + APART])
steps.train(1)
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)


def rehearse(migrated: str, original: str, *more: str) -> tuple[int, dict[str, Any]]:
    """Exit status and report of two projects that add these to a weight."""
    python = running_python(Path.cwd().parent / "bin" / "python")
    make_project(Path("project"), PROGRAM.replace("APART", migrated))
    make_project(Path("original"), PROGRAM.replace("APART", original))
    words = ["--entry", "train.py", "--original", "original", "--python", str(python), *more]
    status = main(["rehearse", "project", *words])
    return status, json.loads(Path("rehearsal/rehearsal.json").read_text(encoding="utf-8"))


def runs_again() -> int:
    return len(list(Path("rehearsal").glob("original_again_*")))


def checks(told: dict[str, Any]) -> list[str]:
    return [finding["check"] for finding in told["findings"]]


def test_nothing_is_run_again_where_numbers_agree() -> None:
    status, told = rehearse("0", "0")
    assert (status, told["verdict"], runs_again()) == (0, "runs", 0)
    assert len(told["compared"]) == 1


def test_numbers_that_stay_where_they_are_differ_by_the_migration(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status, told = rehearse("0.1", "0")
    assert (status, told["verdict"], runs_again()) == (1, "differ", 3)
    assert checks(told) == ["numbers-differ"]
    out = capsys.readouterr().out
    assert "original and migrated: the runs part at step 1 of 1" in out
    assert "original again and original: 1 step agrees to 1e-05; largest difference of " in out


def test_numbers_that_differ_from_run_to_run_are_not_laid_to_the_migration(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status, told = rehearse("0", "run * 0.1")
    assert (status, told["verdict"], runs_again()) == (0, "runs", 1)
    assert checks(told) == ["not-repeatable"]
    assert told["compared"][0]["is_noise"]
    assert told["reasons"] == []
    out = capsys.readouterr().out
    assert "original again and original: the runs part at step 1 of 1, in the weight of `a`" in out
    page = Path("rehearsal/report.html").read_text(encoding="utf-8")
    assert "再次运行的原始与原始：第 1 步出现差异（weight a）。" in page
    assert "但不超过原工程两次运行之间的差异" in page
    assert "original again and original" in Path("rehearsal/report.md").read_text(encoding="utf-8")


def test_a_race_that_is_not_lost_every_time_is_seen_in_a_later_run() -> None:
    status, told = rehearse("0.1", "0.1 if run == 3 else 0")
    assert (status, told["verdict"], runs_again()) == (0, "runs", 2)


def test_numbers_beyond_those_of_chance_differ() -> None:
    status, told = rehearse("0.5", "run * 0.001")
    assert (status, told["verdict"]) == (1, "differ")
    assert checks(told) == ["not-repeatable", "numbers-differ"]
    assert "but the migrated project differs from it by more" in told["findings"][0]["message"]
    assert not told["compared"][0]["is_noise"]


def test_an_original_that_does_not_run_again_says_nothing() -> None:
    status, told = rehearse("0.1", "0 / (run == 1)")
    assert (status, told["verdict"], runs_again()) == (1, "differ", 1)
    assert len(told["compared"]) == 1
    assert len(told["sides"]) == 2
    assert told["prepared"][-1].startswith("original again did not come as far")


def test_in_the_project_itself_nothing_is_run_again() -> None:
    status, told = rehearse("0.1", "0", "--in-project")
    assert (status, told["verdict"], runs_again()) == (1, "differ", 0)
