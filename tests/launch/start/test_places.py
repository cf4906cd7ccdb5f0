"""Ranks go where the order of machines, or a rank table, puts them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.launch.ranktable.tables import group_list, server_list
from tests.launch.write.plans import plan
from trainferry.errors import DataError, UsageError
from trainferry.launch.start.places import (
    TableInUse,
    check_fit,
    places_of,
    read_table_in_use,
    server_here,
    variables_of,
)

PLAIN = {"data_folder": None, "output_folder": None, "starter": "ranks", "command": ("python",)}


def test_ranks_go_along_machines_and_devices() -> None:
    numbered = plan(**PLAIN, nodes=2, devices_per_node=2, device_numbers=(4, 6))
    found = [(one.rank, one.node, one.local_rank, one.device) for one in places_of(numbered, None)]
    assert found == [(0, 0, 0, 4), (1, 0, 1, 6), (2, 1, 0, 4), (3, 1, 1, 6)]


def test_the_rank_table_says_rank_and_device(tmp_path: Path) -> None:
    table = server_list([4, 5], [0, 1])
    table["server_list"].reverse()  # the order of the file is not that of the ranks
    used = _use(tmp_path, table)
    here = plan(**PLAIN, nodes=2, devices_per_node=2)
    seen = [variables_of(here, place, used) for place in places_of(here, used)]
    assert [(one["RANK_ID"], one["DEVICE_ID"], one["RANK_INDEX"]) for one in seen] == [
        ("0", "4", "0"),
        ("1", "5", "0"),
        ("2", "0", "1"),
        ("3", "1", "1"),
    ]
    assert {one["RANK_TABLE_FILE"] for one in seen} == {str(tmp_path / "table.json")}


def test_a_group_list_names_its_instances(tmp_path: Path) -> None:
    used = _use(tmp_path, group_list(2, 2))
    here = plan(**PLAIN, nodes=2, devices_per_node=2)
    seen = [variables_of(here, place, used) for place in places_of(here, used)]
    assert [(one["RANK"], one["RANK_ID"]) for one in seen] == [
        ("0", "pod-0"),
        ("1", "pod-0"),
        ("2", "pod-1"),
        ("3", "pod-1"),
    ]


def test_our_networks_see_the_devices_asked_for_and_count_them_from_0() -> None:
    ours = plan(nodes=1, devices_per_node=2, device_numbers=(4, 5))
    seen = variables_of(ours, places_of(ours, None)[1], None)
    assert seen["ASCEND_RT_VISIBLE_DEVICES"] == seen["CUDA_VISIBLE_DEVICES"] == "4,5"
    assert (seen["LOCAL_RANK"], seen["ASCEND_DEVICE_ID"], seen["DEVICE_ID"]) == ("1", "1", "5")
    theirs = plan(**PLAIN, nodes=1, devices_per_node=2, device_numbers=(4, 5))
    seen = variables_of(theirs, places_of(theirs, None)[1], None)
    assert "ASCEND_RT_VISIBLE_DEVICES" not in seen
    assert seen["ASCEND_DEVICE_ID"] == "5"


def test_a_table_that_does_not_fit_is_refused_with_what_does(tmp_path: Path) -> None:
    used = _use(tmp_path, server_list(8, 8))
    check_fit(used, None, None)
    check_fit(used, 2, 8)
    with pytest.raises(UsageError) as refused:
        check_fit(used, 4, None)
    assert "4 machines with 8 devices" in str(refused.value)
    assert "--nodes 2 --devices 8" in refused.value.hint


def test_a_table_with_errors_is_not_used(tmp_path: Path) -> None:
    table = server_list(2)
    table["server_list"][0]["device"][1]["rank_id"] = "0"
    with pytest.raises(DataError, match="rank"):
        _use(tmp_path, table)


def test_this_machine_is_found_in_the_table_by_its_address(tmp_path: Path) -> None:
    table = server_list(2, 2)
    table["server_list"][1]["server_id"] = "127.0.0.1"
    used = _use(tmp_path, table)
    assert server_here(used, None) == 1
    assert server_here(used, 0) == 0


def test_a_machine_that_is_not_in_the_table_is_told_what_is(tmp_path: Path) -> None:
    used = _use(tmp_path, server_list(2, 2))
    with pytest.raises(UsageError, match="node-000") as refused:
        server_here(used, None)
    assert "--node-rank" in refused.value.hint


def _use(folder: Path, document: dict[str, Any]) -> TableInUse:
    path = folder / "table.json"
    path.write_text(json.dumps(document))
    return read_table_in_use(path)
