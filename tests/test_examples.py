"""The examples are what `trainferry migrate` makes of them, and they run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from trainferry.migrate.migration import Migration
from trainferry.migrate.options import Options
from trainferry.migrate.pipeline import migrate_project
from trainferry.migrate.report.markdown import markdown_report

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
NAMES = ["estimator", "horovod", "keras", "session", "slim_queues", "strategy"]
PYTHON = os.environ.get("TRAINFERRY_TF115_PYTHON")

SCORE = re.compile(r"(accuracy|error|loss)\D* (\d\.\d+)")
# Horovod for one process, for machines that do not have it.
HOROVOD = """\
import tensorflow as tf
def init(): pass
def rank(): return 0
def local_rank(): return 0
def size(): return 1
def DistributedOptimizer(optimizer): return optimizer
class BroadcastGlobalVariablesHook(tf.train.SessionRunHook):
    def __init__(self, root_rank): pass
"""

each_example = pytest.mark.parametrize("name", NAMES)


def test_every_example_is_tested() -> None:
    assert sorted(path.parent.name for path in EXAMPLES.glob("*/before")) == NAMES


@each_example
def test_after_is_the_migration_of_before(name: str) -> None:
    migrated = {
        str(file.path): file.after for file in migration_of(EXAMPLES / name / "before").files
    }
    kept = {path.name: path.read_bytes() for path in files_of(EXAMPLES / name / "after")}
    assert migrated == kept, "run `make examples`, and look at what changes"


@each_example
def test_a_second_migration_changes_nothing(name: str) -> None:
    assert migration_of(EXAMPLES / name / "after").changed == ()


@each_example
def test_the_report_is_up_to_date(name: str) -> None:
    report = (EXAMPLES / name / "report.md").read_text(encoding="utf-8")
    told = markdown_report(migration_of(EXAMPLES / name / "before"))
    assert told == report, "run `make examples`"


@each_example
def test_every_example_is_explained_in_both_languages(name: str) -> None:
    for page in ("README.md", "README.zh-CN.md"):
        lines = (EXAMPLES / name / page).read_text(encoding="utf-8").splitlines()
        assert lines[0].startswith("# ")
        assert 10 <= len(lines) <= 30


@pytest.mark.slow
@each_example
@pytest.mark.skipif(PYTHON is None, reason="TRAINFERRY_TF115_PYTHON names no interpreter")
def test_before_trains(name: str, tmp_path: Path) -> None:
    assert PYTHON is not None
    for path in files_of(EXAMPLES / name / "before"):
        shutil.copy(path, tmp_path)
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2"}
    if name == "horovod":
        stand_in = tmp_path / "stand_in" / "horovod"
        stand_in.mkdir(parents=True)
        (stand_in / "__init__.py").touch()
        (stand_in / "tensorflow.py").write_text(HOROVOD, encoding="utf-8")
        environment["PYTHONPATH"] = str(stand_in.parent)
    ran = subprocess.run(
        [PYTHON, "train.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    told = SCORE.search(ran.stdout.splitlines()[-1])
    assert told is not None, ran.stdout
    assert float(told[2]) > 0.9 if told[1] == "accuracy" else float(told[2]) < 0.5


@cache
def migration_of(project: Path) -> Migration:
    return migrate_project(project, Options())


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file())
