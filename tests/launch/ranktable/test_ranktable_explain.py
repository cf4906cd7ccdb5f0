"""A table in plain words names its servers, ranks, links and what a process needs."""

from __future__ import annotations

import pytest

from tests.launch.ranktable.tables import group_list, server_list, table_of
from trainferry.errors import UsageError
from trainferry.launch.ranktable.chips import CHIPS
from trainferry.launch.ranktable.explain import describe_table, explain_rank, explain_table
from trainferry.launch.ranktable.table import shorten_numbers


def test_a_cluster_is_explained() -> None:
    told = explain_table(table_of(server_list(8, 8)), CHIPS["910"], "t.json")
    assert "a server list, version 1.0, ready for use" in told
    assert "2 servers with 8 devices each, 16 devices in all" in told
    assert "  8-15   node-001  0-7      192.168.1.1 ... 192.168.1.8\n" in told
    assert "devices 0-3 are one network and devices 4-7 another" in told
    assert "  192.168.0.x  devices 0-7\n" in told
    assert "RANK_TABLE_FILE=t.json RANK_SIZE=16 RANK_ID=15 DEVICE_ID=7" in told


def test_one_server_and_one_device_are_explained() -> None:
    told = explain_table(table_of(server_list([3])), CHIPS["910b"], "t.json")
    assert "1 server with 1 device: one process on each" in told
    assert "nothing goes over a network" in told


def test_a_group_list_is_explained_with_the_ranks_it_will_have() -> None:
    told = explain_table(table_of(group_list(8, 8)), CHIPS["910"], "t.json")
    assert "RANK_ID=pod-1 DEVICE_ID=7" in told
    assert "HCCL numbers by server id as text" in told


def test_a_table_that_is_not_ready_is_told_so() -> None:
    document = {**server_list(4, 8), "status": "initializing"}
    told = explain_table(table_of(document), CHIPS["910"], "t.json")
    assert "not ready: `initializing`" in told
    assert "2 servers with 4 to 8 devices" in told


def test_a_thousand_devices_fit_on_a_screen() -> None:
    told = explain_table(table_of(server_list(*[8] * 128)), CHIPS["910"], "t.json")
    assert "  ... 113 servers more\n" in told
    assert "  1016-1023  node-127" in told
    assert len(told.splitlines()) < 50
    assert max(map(len, told.splitlines())) <= 100


def test_one_rank_is_explained() -> None:
    table = table_of(server_list(8, 8))
    told = explain_rank(table, 11, "t.json")
    assert "rank 11 runs on device 3 of server `node-001`." in told
    assert "On the same server: ranks 8-10, 12-15." in told
    assert "\n  RANK_ID=11\n  DEVICE_ID=3\n" in told
    assert "On the same server: rank 2." in explain_rank(table_of(server_list(2, 2)), 3, "t.json")
    with pytest.raises(UsageError, match="there is no rank 16"):
        explain_rank(table, 16, "t.json")


def test_programs_get_every_rank() -> None:
    described = describe_table(table_of(server_list(8, 8)), "t.json", None)
    assert [one["rank"] for one in described["ranks"]] == list(range(16))
    assert described["ranks"][9]["environment"]["RANK_ID"] == "9"
    one = describe_table(table_of(server_list(8, 8)), "t.json", 9)["ranks"]
    assert one == [described["ranks"][9]]


@pytest.mark.parametrize(
    ("numbers", "text"),
    [([0, 1, 2, 3], "0-3"), ([7, 0, 1], "0-1, 7"), ([5], "5"), ([], ""), ([1, 3], "1, 3")],
)
def test_numbers_are_written_as_people_do(numbers: list[int], text: str) -> None:
    assert shorten_numbers(numbers) == text
