"""New tables from hosts and addresses; nothing that is not known is invented."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainferry.errors import DataError, TrainferryError, UsageError, WriteError
from trainferry.launch.ranktable.check import check_table
from trainferry.launch.ranktable.chips import CHIPS
from trainferry.launch.ranktable.document import write_whole
from trainferry.launch.ranktable.hccn import parse_addresses, read_addresses
from trainferry.launch.ranktable.hosts import Host, name_hosts, parse_devices, read_hosts
from trainferry.launch.ranktable.make import count_addresses, make_table

CONFIGURATION = "".join(
    f"address_{id}=192.168.{100 + id % 4}.{id // 4 + 1}\nnetmask_{id}=255.255.255.0\n"
    for id in range(8)
)
ANSWERS = "".join(f"ipaddr:10.0.0.{id + 1}\nnetmask:255.255.255.0\n" for id in range(8))


def addresses(text: str) -> dict[int, str]:
    return parse_addresses(enumerate(text.splitlines(), 1), "hccn")


def test_addresses_come_from_a_configuration_file() -> None:
    found = addresses("# set by hand\nsend_arp_status_0=1\n\n" + CONFIGURATION)
    assert found[0] == "192.168.100.1"
    assert found[7] == "192.168.103.2"
    assert len(found) == 8


def test_an_ipv6_address_is_taken_where_there_is_no_other() -> None:
    found = addresses("address_0=10.0.0.1\nIPv6address_0=fd00::1\nIPv6address_1=fd00::2\n")
    assert found == {0: "10.0.0.1", 1: "fd00::2"}


def test_answers_of_the_tool_are_numbered_in_their_order() -> None:
    assert addresses(ANSWERS) == {id: f"10.0.0.{id + 1}" for id in range(8)}


def test_answers_are_numbered_by_the_command_where_it_is_shown() -> None:
    log = "+ hccn_tool -i 5 -ip -g\nipaddr:10.0.0.6\nnetmask:255.0.0.0\n"
    log += "root@node:~# hccn_tool -i 3 -ip -g\nipaddr:10.0.0.4\nnetmask:255.0.0.0\n"
    assert addresses(log) == {5: "10.0.0.6", 3: "10.0.0.4"}


def test_a_device_without_an_answer_does_not_shift_the_others() -> None:
    broken = ANSWERS.replace("ipaddr:10.0.0.3\n", "cmd execute failed\n")
    with pytest.raises(DataError, match="line 5: `cmd execute failed` is neither") as told:
        addresses(broken)
    assert "shift" in told.value.hint


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no address"),
        ("netmask:255.0.0.0\n", "no address"),
        ("address_0=10.0.0.1\naddress_0=10.0.0.2\n", "device 0 has `10.0.0.2` here"),
        ("address_0=10.0.0.1\ngarbage\n", "line 2: `garbage` is neither"),
    ],
)
def test_addresses_that_cannot_be_told_are_errors(text: str, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        addresses(text)


def test_files_belong_to_hosts_by_argument_name_or_folder(tmp_path: Path) -> None:
    (tmp_path / "a.conf").write_text(CONFIGURATION, encoding="utf-8")
    (tmp_path / "b").write_text(ANSWERS, encoding="utf-8")
    by_name = read_addresses([f"{tmp_path}/a.conf", f"{tmp_path}/b"], ["a", "b"])
    assert read_addresses([str(tmp_path)], ["a", "b"]) == by_name
    by_argument = read_addresses([f"b={tmp_path}/a.conf", f"a={tmp_path}/b"], ["a", "b"])
    assert by_argument == {"b": by_name["a"], "a": by_name["b"]}
    assert read_addresses([f"{tmp_path}/b"], ["only"]) == {"only": by_name["b"]}


def test_one_file_holds_many_hosts_with_their_names_in_front(tmp_path: Path) -> None:
    lines = [f"{host}: {line}" for line in CONFIGURATION.splitlines() for host in ("a", "b")]
    path = tmp_path / "all.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    found = read_addresses([str(path)], ["a", "b"])
    assert found["a"] == found["b"] == addresses(CONFIGURATION)
    path.write_text("\n".join([*lines, "ipaddr:10.0.0.9"]), encoding="utf-8")
    with pytest.raises(DataError, match="has no host in front"):
        read_addresses([str(path)], ["a", "b"])


@pytest.mark.parametrize(
    ("sources", "problem"),
    [
        (["{folder}/x.conf"], "whose addresses"),
        (["c={folder}/x.conf"], "`c`, which is not one"),
        (["a={folder}/x.conf", "a={folder}/x.conf"], "both have addresses of `a`"),
        (["a={folder}/none"], "cannot be read"),
    ],
)
def test_a_file_of_nobody_is_an_error(tmp_path: Path, sources: list[str], problem: str) -> None:
    (tmp_path / "x.conf").write_text(CONFIGURATION, encoding="utf-8")
    with pytest.raises(TrainferryError, match=problem):
        read_addresses([one.format(folder=tmp_path) for one in sources], ["a", "b"])


def test_hosts_come_from_names_brackets_and_files(tmp_path: Path) -> None:
    assert [host.name for host in name_hosts(["a", "n[08-10,2]x"])] == [
        "a",
        "n08x",
        "n09x",
        "n10x",
        "n2x",
    ]
    path = tmp_path / "hosts"
    path.write_text("\ufeff# all\nnode[1-2]\n\nnode3 slots=4  # half\n", encoding="utf-8")
    assert read_hosts(path) == [Host("node1"), Host("node2"), Host("node3", 4)]


@pytest.mark.parametrize(
    "word", ["n[", "n]", "n[a]", "n[2-1]", "n[1][2]", "n[1-]", "n[1-99999999]"]
)
def test_brackets_that_make_no_sense_are_errors(word: str) -> None:
    with pytest.raises(UsageError):
        name_hosts([word])


@pytest.mark.parametrize(
    ("text", "problem"), [("", "names no host"), ("a b\n", "line 1: `b` is not understood")]
)
def test_host_files_that_make_no_sense_are_errors(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "hosts"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=problem):
        read_hosts(path)


def test_a_host_file_that_cannot_be_read_is_told_in_plain_words(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none` cannot be read: No such file or directory$"):
        read_hosts(tmp_path / "none")
    path = tmp_path / "hosts"
    path.write_bytes("node-1  # für Tests\n".encode("latin-1"))
    with pytest.raises(DataError, match="no text in UTF-8: byte 11 is 0xfc"):
        read_hosts(path)


@pytest.mark.parametrize(
    ("text", "ids"),
    [("8", range(8)), ("1", [0]), ("4-7", [4, 5, 6, 7]), ("0,1", [0, 1]), ("6-6", [6])],
)
def test_devices_are_a_number_or_ids(text: str, ids: list[int]) -> None:
    assert parse_devices(text) == tuple(ids)


@pytest.mark.parametrize("text", ["", "a", "7-4", "1,,2", "-1", "0-99999999", "99999999"])
def test_devices_that_make_no_sense_are_errors(text: str) -> None:
    with pytest.raises(UsageError):
        parse_devices(text)


def test_a_table_follows_hosts_and_devices() -> None:
    hosts = [Host("b"), Host("a")]
    known = {"a": addresses(CONFIGURATION), "b": addresses(ANSWERS)}
    table = make_table(hosts, (4, 5, 6, 7), known, "server-list")
    assert [(server.id, one.id, one.rank, one.address) for server, one in table.entries][3:5] == [
        ("b", 7, 3, "10.0.0.8"),
        ("a", 4, 4, "192.168.100.2"),
    ]
    assert not check_table(table, "910").errors


def test_a_group_list_is_made_in_the_order_that_hccl_numbers() -> None:
    hosts = name_hosts(["n[9-10]"])
    table = make_table(hosts, (0,), count_addresses(hosts, "10.0.0.1", CHIPS["910"]), "group-list")
    assert [(server.id, one.rank) for server, one in table.entries] == [("n10", 0), ("n9", 1)]
    assert not check_table(table, "910").errors


def test_counted_addresses_are_those_of_the_stated_scheme() -> None:
    counted = count_addresses([Host("a"), Host("b")], "10.0.0.250", CHIPS["910"])
    assert counted["a"][7] == "10.0.1.1"
    assert counted["b"][0] == "10.0.1.2"
    assert count_addresses([Host("a")], "fd00::1", CHIPS["910b"])["a"][15] == "fd00::10"


@pytest.mark.parametrize("base", ["10.0.0", "255.255.255.250"])
def test_an_address_to_count_from_must_be_one(base: str) -> None:
    with pytest.raises(UsageError):
        count_addresses([Host("a")], base, CHIPS["910"])


def test_what_is_not_known_is_an_error() -> None:
    known = {"a": {0: "10.0.0.1", 1: "10.0.0.2"}}
    with pytest.raises(DataError, match=r"no addresses are known for `b`"):
        make_table([Host("a"), Host("b")], (0,), known, "server-list")
    with pytest.raises(DataError, match=r"host `a`: no address of device 2-7; there are .* 0-1"):
        make_table([Host("a")], range(8), known, "server-list")
    with pytest.raises(DataError, match="`a` is named more than once"):
        make_table([Host("a"), Host("a")], (0,), known, "server-list")
    with pytest.raises(UsageError, match="no host"):
        make_table([], (0,), known, "server-list")


def test_a_file_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "table.json"
    write_whole(path, "one")
    with pytest.raises(WriteError, match="is there already"):
        write_whole(path, "two")
    with pytest.raises(WriteError, match="cannot be written"):
        write_whole(tmp_path / "none" / "table.json", "two")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(WriteError, match="No space left"):
        write_whole(tmp_path / "other.json", "two")
    assert [one.name for one in tmp_path.iterdir()] == ["table.json"]
    assert path.read_text(encoding="utf-8") == "one"
