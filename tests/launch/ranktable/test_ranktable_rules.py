"""Every rule of a rank table, with a good and a bad table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.launch.ranktable.tables import (
    Document,
    check,
    found,
    group_list,
    lab_list,
    other_problems,
    server_list,
    state_of,
)
from trainferry.launch.ranktable.check import RULES, State
from trainferry.launch.ranktable.chips import ChipName


@dataclass(frozen=True)
class Case:
    """A table that a rule accepts, and one that it does not."""

    rule: str
    good: Document
    bad: Document
    where: str
    fix: str
    state: State = "error"
    chip: ChipName = "910"
    also: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{self.rule}: {self.where}"


def spoil(document: Document, change: Callable[[Document], object]) -> Document:
    change(document)
    return document


def devices(document: Document, server: int = 0) -> list[Document]:
    entries: list[Document] = document["server_list"][server]["device"]
    return entries


def instances(document: Document) -> list[Document]:
    entries: list[Document] = document["group_list"][0]["instance_list"]
    return entries


def set_device(server: int, device: int, **values: object) -> Callable[[Document], object]:
    return lambda document: devices(document, server)[device].update(values)


def super_pods(*pods: list[int]) -> Document:
    """Servers of two devices in super pods, for the 910c."""
    document = server_list(*[2] * sum(map(len, pods)))
    document["version"] = "1.2"
    for pod in pods:
        for place, server in enumerate(pod):
            for id, device in enumerate(devices(document, server)):
                device["super_device_id"] = str(2 * place + id)
    document["super_pod_list"] = [
        {
            "super_pod_id": str(number),
            "server_list": [{"server_id": f"node-{server:03}"} for server in pod],
        }
        for number, pod in enumerate(pods)
    ]
    return document


NODE_0, NODE_1 = "server `node-000`", "server `node-001`"

CASES = [
    Case(
        "version",
        server_list(8),
        spoil(server_list(8), lambda one: one.update(version="1.1")),
        "the table",
        '"version": "1.0"',
    ),
    Case(
        "version",
        server_list(8),
        spoil(server_list(8), lambda one: one.pop("version")),
        "the table",
        '"version": "1.0"',
    ),
    Case(
        "version",
        group_list(8),
        spoil(group_list(8), lambda one: one.update(version="1.0")),
        "the table",
        "delete `version`",
    ),
    Case(
        "version",
        server_list(2, 2),
        super_pods([0, 1]),
        "the table",
        '"version": "1.0"',
        also=frozenset({"whole servers", "super pods"}),
    ),
    Case(
        "status",
        server_list(8),
        spoil(server_list(8), lambda one: one.update(status="initializing")),
        "the table",
        "wait until",
    ),
    Case(
        "status",
        server_list(8),
        spoil(server_list(8), lambda one: one.update(status="complete")),
        "the table",
        '"status": "completed"',
    ),
    Case(
        "template",
        server_list(8),
        group_list(8),
        "the table",
        "--template server-list",
        state="warning",
        chip="910b",
    ),
    Case(
        "counts",
        server_list(8, 8),
        spoil(server_list(8, 8), lambda one: one.update(server_count="3")),
        "the table",
        '"server_count": "2"',
    ),
    Case(
        "counts",
        server_list(8),
        spoil(server_list(8), lambda one: one.pop("server_count")),
        "the table",
        '"server_count": "1"',
        state="warning",
    ),
    Case(
        "counts",
        group_list(8),
        spoil(group_list(8), lambda one: one["group_list"][0].update(device_count="4")),
        "group_list[0]",
        '"device_count": "8"',
    ),
    Case(
        "counts",
        group_list(8, 8),
        spoil(group_list(8, 8), lambda one: one["group_list"][0].pop("instance_count")),
        "group_list[0]",
        '"instance_count": "2"',
    ),
    Case(
        "counts",
        group_list(8),
        spoil(group_list(8), lambda one: one.update(group_count="2")),
        "the table",
        '"group_count": "1"',
    ),
    Case(
        "counts",
        lab_list(4),
        spoil(lab_list(4), lambda one: one["group_list"][0].update(server_num="2")),
        "group_list[0]",
        '"server_num": "1"',
    ),
    Case(
        "instance names",
        group_list(8, 8),
        spoil(group_list(8, 8), lambda one: instances(one)[1].update(pod_name="pod-0")),
        "instance `pod-0`",
        "its own `pod_name`",
    ),
    Case(
        "server ids",
        server_list(8, 8),
        spoil(server_list(8, 8), lambda one: one["server_list"][1].update(server_id="node-000")),
        NODE_0,
        "its own `server_id`",
    ),
    Case(
        "server ids",
        spoil(server_list(8), lambda one: one["server_list"][0].update(server_id="n" * 64)),
        spoil(server_list(8), lambda one: one["server_list"][0].update(server_id="n" * 65)),
        "server `nnn",
        "shorter",
    ),
    Case(
        "server ids",
        server_list(8),
        spoil(server_list(8), lambda one: one["server_list"][0].update(server_id="FILL-IN")),
        "server `FILL-IN`",
        "address or name",
    ),
    Case(
        "device ids",
        server_list(8),
        spoil(server_list(8), set_device(0, 5, device_id="4")),
        f"{NODE_0}, device 4 (rank 4)",
        "not used here: 5",
    ),
    Case(
        "device ids",
        server_list([7]),
        server_list([8]),
        f"{NODE_0}, device 8 (rank 0)",
        "/dev/davinci",
    ),
    Case("device ids", server_list([15]), server_list([16]), NODE_0, "/dev/davinci", chip="910b"),
    *(
        Case("devices", server_list(number), server_list(wrong), NODE_0, "1, 2, 4 or 8")
        for number, wrong in ((1, 3), (2, 5), (4, 6), (8, 7))
    ),
    Case(
        "devices",
        server_list(3, 3),
        server_list(*[list(range(9))] * 2),
        NODE_0,
        "1 to 8",
        chip="910b",
    ),
    Case("rings", server_list([0, 3]), server_list([3, 4]), NODE_0, "take 2 of 0-3"),
    Case("rings", server_list([4, 5, 6, 7]), server_list([2, 3, 4, 5]), NODE_0, "take 4 of 0-3"),
    Case("equal servers", server_list(8, 8), server_list(8, 8, 8, 4), "server `node-003`", "use 8"),
    Case(
        "equal servers",
        server_list(3, 3),
        server_list(8, 8, 5),
        "server `node-002`",
        "use 8",
        state="warning",
        chip="910b",
    ),
    Case(
        "whole servers",
        server_list(8, 8),
        server_list(4, 4),
        "the table",
        "all 8 devices",
        state="warning",
    ),
    Case(
        "power of two",
        server_list(8, 8, 8, 8),
        server_list(8, 8, 8),
        "the table",
        "2 or 4 servers",
        state="warning",
    ),
    Case(
        "size",
        server_list(*[8] * 128),
        server_list(*[8] * 256),
        "the table",
        "at most",
    ),
    Case(
        "ranks",
        server_list(8),
        spoil(server_list(8), set_device(0, 5, rank_id="4")),
        f"{NODE_0}, device 5 (rank 4)",
        "not used: 5",
    ),
    Case(
        "ranks",
        server_list(8),
        spoil(server_list(8), set_device(0, 7, rank_id="8")),
        f"{NODE_0}, device 7 (rank 8)",
        "not used: 7",
    ),
    Case(
        "rank blocks",
        server_list(8, 8),
        spoil(
            server_list(8, 8),
            lambda one: (set_device(0, 7, rank_id="8")(one), set_device(1, 0, rank_id="7")(one)),
        ),
        NODE_0,
        "0-7",
    ),
    Case(
        "rank order",
        server_list(8),
        spoil(
            server_list(8),
            lambda one: (set_device(0, 0, rank_id="1")(one), set_device(0, 1, rank_id="0")(one)),
        ),
        NODE_0,
        "order of their ids",
        state="warning",
    ),
    Case(
        "rank order",
        server_list(8, 8),
        spoil(server_list(8, 8), lambda one: one["server_list"].reverse()),
        NODE_0,
        "order of their ranks",
        state="warning",
    ),
    Case(
        "addresses",
        server_list(8, 8),
        spoil(server_list(8, 8), lambda one: devices(one, 1)[3].pop("device_ip")),
        f"{NODE_1}, device 3 (rank 11)",
        "`hccn_tool -i 3 -ip -g` on `node-001`",
    ),
    Case(
        "addresses",
        server_list(8),
        spoil(server_list(8), set_device(0, 3, device_ip="")),
        f"{NODE_0}, device 3 (rank 3)",
        "hccn_tool -i 3",
        state="warning",
    ),
    Case(
        "addresses",
        spoil(server_list(8), set_device(0, 3, device_ip="")),
        spoil(server_list(8, 8), set_device(0, 3, device_ip="")),
        f"{NODE_0}, device 3 (rank 3)",
        "hccn_tool -i 3",
        chip="910b",
    ),
    Case(
        "valid addresses",
        spoil(server_list(8), set_device(0, 2, device_ip="fd00::2")),
        spoil(server_list(8), set_device(0, 2, device_ip="192.168.1.256")),
        f"{NODE_0}, device 2 (rank 2)",
        "hccn_tool -i 2",
    ),
    Case(
        "valid addresses",
        server_list(8),
        spoil(server_list(8), set_device(0, 2, device_ip="FILL-IN")),
        f"{NODE_0}, device 2 (rank 2)",
        "hccn_tool -i 2",
    ),
    Case(
        "valid addresses",
        server_list(8),
        spoil(server_list(8), set_device(0, 2, device_ip="127.0.0.1")),
        f"{NODE_0}, device 2 (rank 2)",
        "hccn_tool -i 2",
    ),
    Case(
        "own addresses",
        server_list(8, 8),
        spoil(server_list(8, 8), set_device(1, 0, device_ip="192.168.0.1")),
        f"{NODE_1}, device 0 (rank 8)",
        "hccn_tool -i 0",
    ),
    Case(
        "own addresses",
        spoil(server_list(8), set_device(0, 1, device_ip="fd00::1,fd00::2")),
        spoil(server_list(8), set_device(0, 1, device_ip="fd00::1,192.168.0.1")),
        f"{NODE_0}, device 1 (rank 1)",
        "hccn_tool -i 1",
    ),
    Case(
        "one family",
        server_list(8, 8),
        spoil(server_list(8, 8), set_device(1, 0, device_ip="fd00::1")),
        f"{NODE_1}, device 0 (rank 8)",
        "hccn_tool -i 0 -ip -g",
    ),
    Case(
        "ports",
        spoil(server_list(8), set_device(0, 0, device_port="16667")),
        spoil(server_list(8), set_device(0, 0, device_port="65536")),
        f"{NODE_0}, device 0 (rank 0)",
        "65535",
        chip="910b",
    ),
    Case(
        "ports",
        spoil(server_list(8), set_device(0, 0, device_port="1024")),
        spoil(server_list(8), set_device(0, 0, device_port="22")),
        f"{NODE_0}, device 0 (rank 0)",
        "1024",
        state="warning",
        chip="910b",
    ),
    Case(
        "super pods",
        super_pods([0, 1], [2, 3]),
        spoil(super_pods([0, 1]), lambda one: one["super_pod_list"][0]["server_list"].pop()),
        NODE_1,
        "`super_pod_list`",
        chip="910c",
    ),
    Case(
        "super pods",
        super_pods([0, 1]),
        spoil(super_pods([0, 1]), set_device(1, 0, super_device_id="1")),
        f"{NODE_1}, device 0 (rank 2)",
        "once in a super pod",
        chip="910c",
    ),
    Case(
        "super pods",
        super_pods([0], [1]),
        super_pods([0, 1], [2]),
        "the table",
        "equally many",
        chip="910c",
    ),
    Case(
        "super pods",
        super_pods([0, 1]),
        spoil(super_pods([0, 1]), lambda one: devices(one, 1)[0].pop("super_device_id")),
        f"{NODE_1}, device 0 (rank 2)",
        "npu-smi",
        chip="910c",
    ),
    Case(
        "super pods",
        super_pods([0, 1]),
        spoil(super_pods([0, 1]), lambda one: one.update(super_pod_list="0")),
        "the table",
        "super_pod_id",
        chip="910c",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_rule_names_the_entry_and_the_fix(case: Case) -> None:
    good = check(case.good, case.chip)
    assert found(case.rule, good) == []
    assert good.errors == []

    bad = check(case.bad, case.chip)
    assert state_of(case.rule, bad) == case.state
    first = found(case.rule, bad)[0]
    assert first.where.startswith(case.where)
    assert case.fix in first.fix


@pytest.mark.parametrize("case", CASES, ids=str)
def test_one_mistake_is_not_told_as_many(case: Case) -> None:
    expected = {
        "size": set[str](),
        "devices": {"rings", "whole servers"},
        "equal servers": {"power of two"},
        "device ids": {"rings"},
    }.get(case.rule, set())
    assert other_problems(case.rule, check(case.bad, case.chip)) <= expected | case.also


def test_every_rule_has_a_case() -> None:
    read = {"json", "file name", "keys", "values"}  # test_ranktable_reading.py
    assert {rule.name for rule in RULES} == {case.rule for case in CASES} | read


def test_all_mistakes_are_told_at_once() -> None:
    bad = server_list(8, 8)
    bad["status"] = "initializing"
    bad["server_count"] = "3"
    devices(bad, 1)[0]["device_ip"] = "192.168.0.1"
    assert {one.rule for one in check(bad).errors} == {"status", "counts", "own addresses"}


def test_rules_of_another_chip_are_not_applied() -> None:
    five = server_list(5, 5, 5)
    assert check(five, "910").errors
    assert not check(five, "910b").errors
    assert state_of("rings", check(five, "910b")) is None
    assert state_of("power of two", check(five, "910c")) is None


def test_a_table_of_super_pods_is_judged_by_the_rules_of_its_chip() -> None:
    assert check(super_pods([0, 1], [2, 3])).chip.name == "910c"
    assert check(server_list(8)).chip.name == "910"


def test_the_order_of_ranks_is_judged_once_they_are_right() -> None:
    twice = spoil(server_list(8, 8), set_device(1, 0, rank_id="0"))
    assert state_of("ranks", check(twice)) == "error"
    assert state_of("rank blocks", check(twice)) == "skipped"
    assert state_of("rank order", check(twice)) == "skipped"


def test_the_largest_cluster_is_good() -> None:
    largest = check(server_list(*[8] * 128))
    assert largest.table is not None
    assert largest.table.size == 1024
    assert not largest.errors
    assert not largest.warnings
