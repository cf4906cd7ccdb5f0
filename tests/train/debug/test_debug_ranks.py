"""Several ranks look together: what one of them finds stops all, and is told of that one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.train.rank_processes import run_ranks
from tests.train.word_data import make_word_data

pytestmark = pytest.mark.cluster


def test_the_rank_that_overflowed_is_named_on_all_ranks(tmp_path: Path) -> None:
    data, folder = make_word_data(tmp_path / "data", train=24, val=0), tmp_path / "run"
    program = ["-m", "tests.train.debug.rank_harm", str(data), str(folder)]
    for status, told, messages in run_ranks(2, program):
        assert status == 0, messages
        assert told.startswith("rank 1: overflow at step 1: the output of `convolutions.norm3`")
    reports = {path.name for path in (folder / "overflows").glob("*.json")}
    assert "step-00000001-batch-00000000-rank-1.json" in reports
    dumps = sorted(path.name for path in (folder / "dumps").iterdir())
    assert dumps == ["step-00000001-rank-0", "step-00000001-rank-1"]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs Linux's list of threads")
def test_no_connection_outlives_a_run_that_failed(tmp_path: Path) -> None:
    data, folder = make_word_data(tmp_path / "data", train=24, val=0), tmp_path / "run"
    program = ["-m", "tests.train.debug.rank_threads", str(data), str(folder)]
    for status, threads, messages in run_ranks(2, program):
        assert status == 0, messages
        assert threads == ""
