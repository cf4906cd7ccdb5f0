"""Files that are no rank table, or nearly one, are told so with the place and the fix."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.launch.ranktable.tables import (
    Document,
    check,
    found,
    group_list,
    lab_list,
    server_list,
    state_of,
    table_of,
)
from trainferry.errors import DataError
from trainferry.launch.ranktable.check import check_reading
from trainferry.launch.ranktable.finding import Finding
from trainferry.launch.ranktable.reading import Reading, parse_table, read_table


def first_error(data: bytes) -> Finding:
    reading = parse_table(data)
    assert reading.table is None
    return next(one for one in reading.findings if one.severity == "error")


GOOD = json.dumps(server_list(8), indent=1)


@pytest.mark.parametrize(
    ("data", "where", "problem", "fix"),
    [
        (b"", "the file", "is empty", "ranktable make"),
        (b"[]", "the file", "holds a list", "check the path"),
        (f"[{GOOD}]".encode(), "the file", "holds a list", "delete the outermost `[` and `]`"),
        (b"7", "the file", "holds a single value", "check the path"),
        (GOOD.encode("utf-16"), "the file", "is in UTF-16", "UTF-8"),
        (b'{"status": "\xff"}', "the file", "byte 12 is 0xff", "UTF-8"),
        (b'{\n  "status": 1, // a\n}', "line 2, column 16", "at `// a`", "comments"),
        (b'{"a": [1, 2,]}', "line 1, column 1", "is not JSON", "comma"),
        (b"{'a': 1}", "line 1, column 2", "is not JSON", '"double quotes"'),
        (GOOD[:-9].encode(), "line ", "is not JSON", "the end is missing"),
        (b'{"version": "1.0",\n', "line 2", "is not JSON", "the end is missing"),
        (b'{"version": "1.', "line 1", "is not JSON", "the end is missing"),
        (GOOD.encode() * 2, "line ", "extra data", "one file holds one table"),
        (b"[" * 200_000, "", "", ""),
        (b"PK\x03\x04\x00binary", "line 1, column 1", "is not JSON", ""),
    ],
)
def test_what_is_no_json_is_told_with_its_place(
    data: bytes, where: str, problem: str, fix: str
) -> None:
    error = first_error(data)
    assert error.rule == "json"
    assert error.where.startswith(where)
    assert problem in error.problem
    assert fix in error.fix


def test_a_byte_order_mark_is_a_warning_and_the_table_is_read() -> None:
    reading = parse_table(b"\xef\xbb\xbf" + GOOD.encode())
    assert reading.table == parse_table(GOOD.encode()).table
    assert [(one.rule, one.severity) for one in reading.findings] == [("json", "warning")]


def test_a_key_that_is_there_twice_is_an_error_that_names_its_entry() -> None:
    twice = GOOD.replace('"rank_id": "3"', '"rank_id": "2", "rank_id": "3"')
    checked = check_reading(parse_table(twice.encode()), None)
    error = found("keys", checked)[0]
    assert error.where == "the entry with `device_id` '3'"
    assert "`rank_id` is there 2 times" in error.problem


def test_a_missing_key_is_an_error_that_names_its_entry() -> None:
    document = server_list(8, 8)
    del document["server_list"][1]["device"][3]["rank_id"]
    error = found("keys", check(document))[0]
    assert error.sentence() == "server `node-001`, device[3] has no `rank_id`"
    assert error.fix == "add `rank_id`"


def test_a_misspelt_key_is_recognised() -> None:
    document = server_list(8)
    document["server_list"][0]["devices"] = document["server_list"][0].pop("device")
    assert found("keys", check(document))[0].fix == "is `devices` meant? write `device`"


@pytest.mark.parametrize("key", ["pod_name", "server_id", "devices"])
def test_an_instance_needs_its_keys(key: str) -> None:
    document = group_list(8)
    del document["group_list"][0]["instance_list"][0][key]
    assert f"has no `{key}`" in found("keys", check(document))[0].problem


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("one", "the text `one`"),
        ("-1", "the text `-1`"),
        (-1, "the number -1"),
        (None, "null"),
        (True, "true"),
        ([], "a list"),
        ("٣", "the text `٣`"),
    ],
)
def test_what_is_no_number_is_an_error(value: object, problem: str) -> None:
    document = server_list(8)
    document["server_list"][0]["device"][2]["rank_id"] = value
    error = found("values", check(document))[0]
    assert error.where == "server `node-000`, device[2]"
    assert problem in error.problem


def test_a_number_without_quotes_is_an_error_and_the_other_rules_are_checked() -> None:
    document = server_list(8)
    document["server_list"][0]["device"][2]["rank_id"] = 2
    checked = check(document)
    assert state_of("values", checked) == "error"
    assert '"2" in quotes' in found("values", checked)[0].fix
    assert state_of("ranks", checked) == "ok"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"server_list": {}}, "`server_list` is an object, not a list"),
        ({"server_list": []}, "`server_list` is empty"),
        ({"server_list": ["node"]}, "`server_list[0]` is the text `node`, not an object"),
        ({"status": None}, "`status` is null, not text"),
        ({"status": {"a": 1}}, "`status` is an object, not text"),
    ],
)
def test_values_of_another_kind_are_errors(change: Document, problem: str) -> None:
    checked = check({**server_list(8), **change})
    assert checked.table is None
    assert found("values", checked)[0].problem == problem


def test_two_templates_in_one_file_are_an_error() -> None:
    checked = check({**server_list(8), **group_list(8)})
    assert state_of("template", checked) == "error"
    assert state_of("ranks", checked) == "skipped"


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({"status": "completed"}, "has neither a `server_list` nor a `group_list`"),
        ({}, "it has nothing"),
        ({"server_group_list": []}, "a scheduler's global rank table"),
    ],
)
def test_json_that_is_no_rank_table_is_told(document: Document, problem: str) -> None:
    assert problem in found("template", check(document))[0].problem


def test_a_lab_instance_has_one_device() -> None:
    document = lab_list(4)
    instance = document["group_list"][0]["instance_list"][0]
    instance["devices"].append({"device_id": "4", "device_ip": "192.168.0.9"})
    assert "2 devices and one `rank_id`" in found("values", check(document))[0].problem


def test_a_lab_list_keeps_its_ranks() -> None:
    document = lab_list(4)
    for place, instance in enumerate(document["group_list"][0]["instance_list"]):
        instance["rank_id"] = str(3 - place)
    table = table_of(document)
    assert [(device.id, device.rank) for _, device in table.entries] == [
        (0, 3),
        (1, 2),
        (2, 1),
        (3, 0),
    ]


def test_a_group_list_is_numbered_by_server_id_as_text_and_device_id() -> None:
    document = group_list(2, 2)
    first, second = document["group_list"][0]["instance_list"]
    first["server_id"], second["server_id"] = "node-9", "node-10"
    first["devices"].reverse()
    table = table_of(document)
    assert [(server.id, device.id, device.rank) for server, device in table.entries] == [
        ("node-9", 1, 3),
        ("node-9", 0, 2),
        ("node-10", 0, 0),
        ("node-10", 1, 1),
    ]


def test_instances_of_one_server_are_one_server() -> None:
    document = group_list(1, 1)
    for place, instance in enumerate(document["group_list"][0]["instance_list"]):
        instance["server_id"] = "node"
        instance["devices"][0]["device_id"] = str(place)
    checked = check(document)
    assert not checked.errors
    assert checked.table is not None
    assert len(checked.table.servers) == 1


def test_a_file_that_is_not_called_json_is_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "table.txt"
    path.write_text(GOOD, encoding="utf-8")
    checked = check_reading(read_table(path), None)
    assert state_of("file name", checked) == "warning"
    path.rename(tmp_path / "table.json")
    assert read_table(tmp_path / "table.json") == Reading(checked.table, ())


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read: No such file"):
        read_table(tmp_path / "none.json")
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        read_table(tmp_path)
