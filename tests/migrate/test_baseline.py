"""A baseline holds back what is known, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.migrate.written import BEFORE, make_project, migrated
from trainferry.errors import UsageError
from trainferry.migrate.baseline import without_baseline, write_baseline


def test_known_findings_are_held_back_also_when_lines_move(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project", {"net.py": BEFORE})
    baseline = tmp_path / "baseline.json"
    write_baseline(migrated(project), baseline)
    make_project(project, {"net.py": b"# a line more\n" + BEFORE})
    migration = without_baseline(migrated(project), baseline)
    assert [told.rule.name for told in migration.told if told.rule.name != "npu_import"] == []
    assert migration.in_baseline > 0


def test_a_second_place_with_the_same_code_is_new(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project", {"net.py": BEFORE})
    baseline = tmp_path / "baseline.json"
    write_baseline(migrated(project), baseline)
    make_project(project, {"net.py": BEFORE + b"net = tf.nn.dropout(net, 0.8)\n"})
    migration = without_baseline(migrated(project), baseline)
    assert [told.line for told in migration.told] == [3]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"findings": 3}', "\0"])
def test_a_file_that_is_no_baseline_is_told(tmp_path: Path, text: str) -> None:
    project = make_project(tmp_path / "project", {"net.py": BEFORE})
    baseline = tmp_path / "baseline.json"
    baseline.write_text(text)
    with pytest.raises(UsageError, match="not a baseline"):
        without_baseline(migrated(project), baseline)


def test_a_missing_baseline_is_told(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project", {"net.py": BEFORE})
    with pytest.raises(UsageError, match="no baseline"):
        without_baseline(migrated(project), tmp_path / "none.json")
