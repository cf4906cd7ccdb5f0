"""`trainferry migrate` and `trainferry rules` as a user meets them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.migrate.written import AFTER, BEFORE, make_project
from trainferry.cli.main import main

ONLY = ["--only", "fused_dropout"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project", {"net.py": BEFORE})


def test_without_a_target_nothing_is_written(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["migrate", str(project), *ONLY]) == 0
    shown = capsys.readouterr()
    assert "fused_dropout" in shown.out
    assert "nothing was written" in shown.err
    assert (project / "net.py").read_bytes() == BEFORE


def test_a_new_tree_with_reports(project: Path, tmp_path: Path) -> None:
    new, report = tmp_path / "new", tmp_path / "report"
    assert main(["migrate", str(project), "--to", str(new), "--report", str(report), *ONLY]) == 0
    assert (new / "net.py").read_bytes() == AFTER
    assert sorted(path.name for path in report.iterdir()) == [
        "report.html",
        "report.json",
        "report.md",
        "report.sarif",
    ]


def test_in_place_and_a_second_time(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", str(project), "--in-place", *ONLY]) == 0
    assert "apply trainferry-undo.patch` leads back" in capsys.readouterr().err
    assert main(["migrate", str(project), "--in-place", *ONLY]) == 0
    assert (project / "net.py").read_bytes() == AFTER
    assert len(list(project.glob("*.patch"))) == 1


def test_the_way_back_is_told_as_a_command_that_works_from_here(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["migrate", str(project), "--in-place", *ONLY]) == 0
    assert f"`git -C {project} apply trainferry-undo.patch`" in capsys.readouterr().err
    (project / "net.py").write_bytes(BEFORE)
    (project / "trainferry-undo.patch").unlink()
    monkeypatch.chdir(project)
    assert main(["migrate", ".", "--in-place", *ONLY]) == 0
    assert "`git apply trainferry-undo.patch`" in capsys.readouterr().err


PROGRAM = BEFORE + b"if __name__ == '__main__':\n    tf.Session().run(tf.train.Optimizer(0.1))\n"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"net.py": BEFORE}, "next: trainferry rehearse {new} --entry FILE"),
        ({"a b.py": PROGRAM}, "next: trainferry rehearse {new} --entry 'a b.py'"),
        (
            {"one.py": PROGRAM, "two.py": PROGRAM},
            "next: trainferry rehearse {new} --entry one.py (of 2 programs)",
        ),
        (
            {"net.py": PROGRAM, "bad.py": b"def ("},
            "next: what is left by hand, then trainferry rehearse {new} --entry net.py",
        ),
        ({"net.py": b"print(1)\n"}, ""),
    ],
)
def test_the_next_step_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], files: dict[str, bytes], said: str
) -> None:
    project, new = make_project(tmp_path / "project", files), tmp_path / "new"
    assert main(["migrate", str(project), "--to", str(new), *ONLY]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("next")]
    assert told == ([said.format(new=new)] if said else [])


def test_a_folder_that_is_there_is_told_before_the_work(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_project(tmp_path / "new", {"mine": b"1"})
    assert main(["migrate", str(project), "--to", str(tmp_path / "new")]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "is already there" in shown.err


def test_reports_hold_names_that_are_not_utf_8(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project", {os.fsdecode(b"caf\xe9.py"): BEFORE})
    report = tmp_path / "report"
    assert main(["migrate", str(project), "--report", str(report), *ONLY]) == 0
    sarif = json.loads((report / "report.sarif").read_text())
    place = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "caf%E9.py"


def test_a_comment_without_effect_is_told(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "net.py").write_bytes(BEFORE.rstrip() + b"  # trainferry: ignore[fused_drop]\n")
    assert main(["migrate", str(project), *ONLY]) == 0
    assert "note: net.py:2: there is no rule `fused_drop`" in capsys.readouterr().err


def test_check_says_by_its_exit_whether_anything_would_change(project: Path) -> None:
    assert main(["migrate", str(project), "--check", *ONLY]) == 1
    (project / "net.py").write_bytes(AFTER)
    assert main(["migrate", str(project), "--check", *ONLY]) == 0


def test_a_diff_goes_to_stdout_and_the_rest_to_stderr(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["migrate", str(project), "--diff", *ONLY]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("--- a/net.py\n+++ b/net.py\n")
    assert "fused_dropout" in shown.err


def test_json_is_all_of_stdout(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", str(project), "--json", *ONLY]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "ready"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--only", "fused_drop"], ["no rule `fused_drop`", "fused_dropout"]),
        (["--also", "nothing_like_it_at_all"], ["trainferry rules"]),
        (["--baseline", "none.json"], ["no baseline", "--write-baseline"]),
        (["--only", ","], ["--only names no rule", "leave out --only"]),
        (["--skip", ""], ["--skip names no rule"]),
        ([*ONLY, "--skip", "fused_dropout,gpu_options"], ["leave no rule"]),
    ],
)
def test_wrong_usage_has_a_hint(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: list[str]
) -> None:
    assert main(["migrate", str(project), *arguments]) == 2
    shown = capsys.readouterr().err
    assert all(word in shown for word in words)


def test_a_project_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", str(tmp_path / "none")]) == 2
    assert "hint:" in capsys.readouterr().err


def test_a_baseline_counts_only_what_is_new(project: Path, tmp_path: Path) -> None:
    known = str(tmp_path / "known.json")
    assert main(["migrate", str(project), "--write-baseline", known, *ONLY]) == 0
    assert main(["migrate", str(project), "--lint", "--baseline", known]) == 0


def test_the_catalogue_and_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    assert "fused_dropout" in capsys.readouterr().out
    assert main(["rules", "fused_dropout"]) == 0
    assert "+net = npu_ops.dropout" in capsys.readouterr().out
    assert main(["rules", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) > 1
    assert main(["rules", "fused"]) == 2
