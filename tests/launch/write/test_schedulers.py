"""One door for all schedulers."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from tests.launch.write.plans import plan
from trainferry.errors import UsageError
from trainferry.launch.write.schedulers import SCHEDULERS, scheduler_files, scheduler_options


def test_each_scheduler_has_its_files() -> None:
    names = {one: [f.name for f in scheduler_files(one, plan(image="a"), {})] for one in SCHEDULERS}
    assert names == {
        "slurm": ["read-words.sbatch"],
        "kubernetes": ["read-words-job.yaml", "read-words-trainjob.yaml"],
        "modelarts": ["start_read_words.py", "read-words-modelarts.md"],
    }


def test_options_reach_their_scheduler() -> None:
    (file,) = scheduler_files("slurm", plan(), {"partition": "debug"})
    assert "#SBATCH --partition=debug\n" in file.text
    assert "partition" in scheduler_options("slurm")


def test_torchrun_and_a_rank_table_do_not_go_together() -> None:
    with pytest.raises(UsageError, match="numbers the ranks itself"):
        scheduler_files("slurm", plan(rank_table=PurePosixPath("/t.json")), {})


@pytest.mark.parametrize("scheduler", ["kubernetes", "modelarts"])
def test_a_container_numbers_its_devices_itself(scheduler: str) -> None:
    upper = plan(image="a", device_numbers=(4, 5, 6, 7))
    with pytest.raises(UsageError, match="from 0"):
        scheduler_files(scheduler, upper, {})


def test_an_unknown_scheduler_or_option_is_told() -> None:
    with pytest.raises(UsageError, match="no files for `pbs`"):
        scheduler_files("pbs", plan(), {})
    with pytest.raises(UsageError, match="unknown option `partitoin`") as error:
        scheduler_files("slurm", plan(), {"partitoin": "a"})
    assert error.value.hint == "did you mean `partition`?"
