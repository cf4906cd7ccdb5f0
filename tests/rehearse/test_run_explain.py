"""Instead of a rehearsal: the pages of the checks, and an interpreter to rehearse with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from trainferry.cli.main import main
from trainferry.rehearse import environment, environment_plan
from trainferry.rehearse.environment_plan import AS_ONE, Plan
from trainferry.rehearse.interpreter import Interpreter


def test_all_checks_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rehearse", "--explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 40
    assert any(line.startswith("open-batch ") for line in lines)


def test_the_page_of_a_check_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rehearse", "--explain", "open-batch"]) == 0
    assert capsys.readouterr().out.startswith("open-batch\n\nAn input leaves its batch open.")


def test_a_page_is_there_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rehearse", "--explain", "open-batch", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert told["name"] == "open-batch"


def test_a_misspelt_check_is_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rehearse", "--explain", "open_batch"]) == 2
    assert "did you mean `open-batch`" in capsys.readouterr().err


def test_setup_prints_the_interpreter_that_it_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[Path] = []

    def make(_plan: Plan, folder: Path, progress: Callable[[str], None]) -> Interpreter:
        asked.append(folder)
        progress("installing")
        return Interpreter(folder / "bin/python", (3, 11, 7), "2.15.1", "1.1.0")

    plan = Plan(AS_ONE, Path("/usr/bin/python3.11"))
    monkeypatch.setattr(environment_plan, "plan_environment", lambda _python: plan)
    monkeypatch.setattr(environment, "make_environment", make)
    assert main(["rehearse", "--setup", str(tmp_path / "new")]) == 0
    out, error = capsys.readouterr()
    assert out == f"{tmp_path}/new/bin/python\n"
    assert "downloads about 330 MB" in error
    assert main(["rehearse", "--setup"]) == 0
    assert asked == [tmp_path / "new", Path("rehearsal-python")]
