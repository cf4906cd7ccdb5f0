"""`trainferry migrate` and `trainferry rules` as a user meets them."""

from __future__ import annotations

import json
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
    assert "git apply" in capsys.readouterr().err
    assert main(["migrate", str(project), "--in-place", *ONLY]) == 0
    assert (project / "net.py").read_bytes() == AFTER
    assert len(list(project.glob("*.patch"))) == 1


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
