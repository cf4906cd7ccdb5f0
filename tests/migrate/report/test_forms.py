"""Text, JSON, SARIF and Markdown say the same about one migration."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from tests.migrate.written import AFTER, BEFORE, make_project, migrated
from trainferry.migrate.dispatch import Failure
from trainferry.migrate.migration import Migration, Verdict
from trainferry.migrate.report.as_json import json_report
from trainferry.migrate.report.markdown import markdown_report
from trainferry.migrate.report.sarif import sarif_report
from trainferry.migrate.report.text import text_report

BY_HAND = b"import tensorflow as tf\nnet = tf.nn.dropout(net, **options)\n"


@pytest.fixture
def migration(tmp_path: Path) -> Migration:
    files = {"net.py": BEFORE, "deep/hidden name.py": BY_HAND, "bad.py": b"def (:\n"}
    return migrated(make_project(tmp_path / "project", files))


def test_the_text_is_plain_without_colour(migration: Migration) -> None:
    text = text_report(migration, colour=False)
    assert "\033" not in text
    assert "net.py:2" in text
    assert "deep/hidden name.py:2" in text
    assert "bad.py:1" in text
    assert text.index("by hand") < text.index("check: rewritten") < text.index("changed: ")


def test_colour_changes_no_word(migration: Migration) -> None:
    import re

    coloured = text_report(migration, colour=True)
    assert "\033[" in coloured
    assert re.sub("\033\\[[0-9;]*m", "", coloured) == text_report(migration, colour=False)


def test_a_file_that_cannot_be_read_is_missing(migration: Migration) -> None:
    assert migration.verdict is Verdict.MISSING
    assert list(migration.missing()) == ["1 file or cell unreadable"]


def test_work_by_hand_that_only_costs_speed_leaves_the_project_ready(tmp_path: Path) -> None:
    migration = migrated(make_project(tmp_path, {"net.py": BY_HAND}))
    assert migration.verdict is Verdict.READY


def test_a_project_without_tensorflow_is_told(tmp_path: Path) -> None:
    migration = migrated(make_project(tmp_path, {"net.py": b"print(1)\n"}))
    assert migration.verdict is Verdict.NOT_TENSORFLOW
    assert "no TensorFlow" in text_report(migration, colour=False)


def test_json_has_every_finding_with_its_place(migration: Migration) -> None:
    report = json.loads(json.dumps(json_report(migration)))
    places = {
        (one["path"], one["line"], one["column"], one["rule"], one["outcome"])
        for one in report["findings"]
    }
    assert places == {
        ("net.py", 2, 7, "fused_dropout", "check"),
        ("net.py", 2, 1, "npu_import", "changed"),
        ("deep/hidden name.py", 2, 7, "fused_dropout", "by_hand"),
    }
    assert report["unreadable"][0]["path"] == "bad.py"
    assert report["apis"][0]["name"] == "tf.nn.dropout"
    assert report["apis"][0]["places"] == ["deep/hidden name.py:2", "net.py:2"]


def test_sarif_has_rules_places_and_what_was_not_read(migration: Migration) -> None:
    (run,) = sarif_report(migration)["runs"]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        region = result["locations"][0]["physicalLocation"]["region"]
        assert region["startLine"] >= 1
        assert region["endLine"] >= region["startLine"]
    uris = {
        one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in run["results"]
    }
    assert uris == {"net.py", "deep/hidden%20name.py"}
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["level"] == "warning"


def test_markdown_keeps_its_tables_whole(migration: Migration) -> None:
    text = markdown_report(migration)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in rows} <= {3, 5}
    assert "`net.py:2`" in text


def test_failures_of_one_rule_are_told_together(migration: Migration) -> None:
    trace = 'Traceback:\n  File "x.py"\nKeyError: 1\n'
    paths = [PurePosixPath(f"{name}.py") for name in "abcde"]
    failures = [Failure(path, "breaks", trace) for path in paths]
    failures += [Failure(paths[0], "other", "line 3: no"), Failure(PurePosixPath("."), "all", "x")]
    broken = replace(migration, failures=tuple(failures))
    text = text_report(broken, colour=False)
    assert "  breaks  5 files: a.py, b.py, c.py and 2 more\n      KeyError: 1\n" in text
    assert "  other  a.py\n      line 3: no\n" in text
    assert "  all  the whole project\n" in text
    markdown = markdown_report(broken)
    assert "- breaks: 5 files: a.py, b.py, c.py, d.py, e.py: `KeyError: 1`\n" in markdown
    assert "5 files left alone by a mistake of ours" in text


def test_places_are_those_of_the_file_as_it_was(tmp_path: Path) -> None:
    files = {"net.py": AFTER + b"net = tf.nn.dropout(net, 0.5)\n"}
    migration = migrated(make_project(tmp_path, files))
    assert [(told.line, told.text) for told in migration.told] == [
        (4, "net = tf.nn.dropout(net, 0.5)")
    ]
