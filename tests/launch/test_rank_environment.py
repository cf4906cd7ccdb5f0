"""Each rank finds the variables that PyTorch, Ascend and the originals' scripts read."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from tests.launch.write.plans import plan
from trainferry.errors import UsageError
from trainferry.launch.environment import VARIABLES, rank_environment


def test_a_rank_of_the_second_machine_sees_all_of_itself() -> None:
    table = PurePosixPath("/job/hccl.json")
    there = plan(rank_table=table, environment={"A": "b"}, connect_timeout_seconds=900)
    assert rank_environment(there, 6, address="m0", job_id="77") == {
        "A": "b",
        "RANK": "6",
        "WORLD_SIZE": "8",
        "LOCAL_RANK": "2",
        "LOCAL_WORLD_SIZE": "4",
        "MASTER_ADDR": "m0",
        "MASTER_PORT": "29500",
        "RANK_ID": "6",
        "RANK_SIZE": "8",
        "RANK_INDEX": "1",
        "DEVICE_ID": "2",
        "DEVICE_INDEX": "6",
        "ASCEND_DEVICE_ID": "2",
        "RANK_TABLE_FILE": "/job/hccl.json",
        "JOB_ID": "77",
        "HCCL_CONNECT_TIMEOUT": "900",
    }


def test_what_is_not_known_is_not_set() -> None:
    found = rank_environment(plan(), 0)
    assert {"MASTER_ADDR", "MASTER_PORT", "RANK_TABLE_FILE"} & set(found) == set()
    assert found["JOB_ID"] == "read-words"


def test_devices_have_the_numbers_the_plan_gives_them() -> None:
    upper = plan(device_numbers=(4, 5, 6, 7))
    assert [rank_environment(upper, rank)["ASCEND_DEVICE_ID"] for rank in range(8)] == [
        *("4", "5", "6", "7"),
        *("4", "5", "6", "7"),
    ]


@pytest.mark.parametrize("rank", [-1, 8])
def test_a_rank_that_does_not_exist_is_an_error(rank: int) -> None:
    with pytest.raises(UsageError, match="no rank"):
        rank_environment(plan(), rank)


def test_every_variable_is_explained_once_with_its_source() -> None:
    assert len({one.name for one in VARIABLES}) == len(VARIABLES)
    assert all(one.meaning and one.source for one in VARIABLES)
