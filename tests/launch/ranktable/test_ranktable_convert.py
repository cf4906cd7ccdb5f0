"""Tables go from one template to the other and back without losing a value or a rank."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.launch.ranktable.tables import (
    Document,
    check,
    group_list,
    lab_list,
    server_list,
    table_of,
)
from trainferry.errors import DataError
from trainferry.launch.ranktable.convert import convert_table
from trainferry.launch.ranktable.document import format_document
from trainferry.launch.ranktable.reading import write_table
from trainferry.launch.ranktable.table import Device, RankTable, Server, number_as_hccl

names = st.text(min_size=1, max_size=12)


@st.composite
def tables(draw: st.DrawFn) -> RankTable:
    """Server lists whose ranks are those HCCL would give, with odd names and unknown keys."""
    servers = []
    for id in draw(st.lists(names, min_size=1, max_size=4, unique=True)):
        ids = draw(st.lists(st.integers(0, 7), min_size=1, max_size=8, unique=True))
        groups = st.sampled_from(["hccl_world_group", "", "other"])
        devices = tuple(
            Device(
                number,
                0,
                draw(st.sampled_from(["", "10.0.0.1", "fd00::1,fd00::2"])),
                pod=draw(st.sampled_from([id, "p", "q"])),
                group=draw(groups),
                extra=draw(st.dictionaries(st.sampled_from(["device_port", "x"]), names)),
            )
            for number in sorted(ids)
        )
        servers.append(Server(id, devices))
    ordered = sorted(number_as_hccl(servers), key=lambda server: server.devices[0].rank)
    extra = draw(st.dictionaries(st.sampled_from(["board_id", "note"]), names))
    return RankTable("server-list", tuple(ordered), version="1.0", extra=extra)


def reread(table: RankTable) -> RankTable:
    return replace(table_of(write_table(table)), counts=())


@settings(deadline=None, max_examples=60)
@given(tables())
def test_there_and_back_is_the_same_table(table: RankTable) -> None:
    assert reread(table) == table
    there = reread(convert_table(table, "group-list", renumber=False))
    assert convert_table(there, "server-list", renumber=False) == table


@pytest.mark.parametrize("document", [server_list(8), server_list(8, 8), server_list([4, 5, 6, 7])])
def test_a_server_list_comes_back_to_the_byte(document: Document) -> None:
    before = table_of(document)
    there = table_of(write_table(convert_table(before, "group-list", renumber=False)))
    back = convert_table(there, "server-list", renumber=False)
    assert format_document(write_table(back)) == format_document(document)


def test_a_group_list_comes_back_to_the_byte() -> None:
    document = group_list(8, 8)
    there = table_of(write_table(convert_table(table_of(document), "server-list", renumber=False)))
    back = convert_table(there, "group-list", renumber=False)
    assert format_document(write_table(back)) == format_document(document)


def test_a_lab_list_becomes_a_server_list_with_its_ranks_and_keys() -> None:
    document = lab_list(4)
    document["group_list"][0]["instance_list"].reverse()
    converted = convert_table(table_of(document), "server-list", renumber=False)
    written = write_table(converted)
    assert [device["rank_id"] for device in written["server_list"][0]["device"]] == list("0123")
    assert written["board_id"] == "0x0020"
    assert not check(written).errors


def test_converted_tables_pass_all_rules() -> None:
    for document in (server_list(8, 8), group_list(8, 8), lab_list(8)):
        for template in ("server-list", "group-list"):
            table = table_of(document)
            converted = convert_table(table, template, renumber=False)
            assert not check(write_table(converted)).errors


def test_ranks_that_a_group_list_cannot_keep_are_an_error() -> None:
    document = server_list(8, 8)
    document["server_list"][0]["server_id"] = "node-9"
    document["server_list"][1]["server_id"] = "node-10"
    table = table_of(document)
    with pytest.raises(DataError, match=r"server `node-9`, device 0 \(rank 0\) would have rank 8"):
        convert_table(table, "group-list", renumber=False)
    renumbered = convert_table(table, "group-list", renumber=True)
    assert [server.id for server in renumbered.servers] == ["node-10", "node-9"]
    assert table_of(write_table(renumbered)).servers == renumbered.servers


def test_keys_without_a_place_are_an_error() -> None:
    document = group_list(8)
    document["group_list"][0]["owner"] = "me"
    with pytest.raises(DataError, match=r"no place for `owner` of group_list\[0\]"):
        convert_table(table_of(document), "server-list", renumber=False)


def test_super_pods_stay_in_a_server_list() -> None:
    table = replace(table_of(server_list(8)), version="1.2")
    with pytest.raises(DataError, match="no place for super pods"):
        convert_table(table, "group-list", renumber=False)


def test_a_device_has_a_line_of_its_own() -> None:
    text = format_document(server_list(8, 8))
    assert json.loads(text) == server_list(8, 8)
    assert sum('"device_ip"' in line for line in text.splitlines()) == 16


def test_half_a_character_stays_escaped() -> None:
    document = {"server_id": "\ud800", "name": "节点"}
    text = format_document(document)
    assert json.loads(text.encode()) == document
    assert "节点" in text
