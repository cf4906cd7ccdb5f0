"""What ranks must agree in."""

from __future__ import annotations

from typing import Any

import pytest

from trainferry.rehearse.hub_checks import HubFinding, Request, check_parts, check_plans


def request(rank: int, kind: str = "allreduce", **changes: Any) -> Request:
    header = {
        "id": 1,
        "kind": kind,
        "tag": "0/HcomAllReduce#1",
        "group": "hccl_world_group",
        "members": [0, 1],
        "operator": "HcomAllReduce",
        "place": f"train.py:{rank + 10}",
        "options": {"reduction": "sum"},
        "tensors": [["float32", [2, 3]]],
    }
    return Request(rank, {**header, **changes}, b"")


def test_equal_parts_agree() -> None:
    assert check_parts([request(0), request(1)]) is None


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"kind": "allgather"}, "operator"),
        ({"members": [1, 0]}, "group"),
        ({"options": {"reduction": "max"}}, "reduction"),
        ({"options": {"reduction": "sum", "root": 1}}, "root"),
        ({"tensors": [["float16", [2, 3]]]}, "dtype"),
        ({"tensors": [["float32", [3, 3]]]}, "shape"),
        ({"tensors": []}, "number of tensors"),
    ],
)
def test_what_differs_is_named_with_ranks_and_lines(changes: dict[str, Any], what: str) -> None:
    finding = check_parts([request(0), request(1, **changes)])
    assert finding is not None
    assert f"ranks disagree in the {what} of one collective" in finding.message
    assert finding.ranks == (0, 1)
    assert finding.places == ("train.py:10", "train.py:11")


def test_rows_of_sparse_gradients_may_differ_in_number() -> None:
    options: dict[str, Any] = {"options": {"uneven": True}}
    one = request(0, **options)
    assert check_parts([one, request(1, tensors=[["float32", [7, 3]]], **options)]) is None
    assert check_parts([one, request(1, tensors=[["float32", [2, 4]]], **options)]) is not None


def test_a_sender_is_answered_nothing_and_a_receiver_the_values() -> None:
    ends: dict[str, Any] = {"options": {"from": 0, "to": 1}}
    sent, received = request(0, "send", **ends), request(1, "receive", **ends)
    assert check_parts([sent, received]) is None
    both = {0: sent, 1: received}
    assert list(sent.parts(both)) == []
    assert list(received.parts(both)) == [sent]


def test_plans_name_what_only_one_rank_has() -> None:
    plans = {
        0: {"operators": ["a", "b"], "place": "train.py:4"},
        1: {"operators": ["a"], "place": "train.py:6"},
    }
    finding = check_plans(2, plans)
    assert finding is not None
    assert "only rank 0 has `b`" in finding.message
    assert "run 3 with collectives" in finding.message
    assert finding.places == ("train.py:4", "train.py:6")


def test_plans_in_another_order_differ() -> None:
    plans = {
        rank: {"operators": names, "place": ""}
        for rank, names in enumerate((["a", "b"], ["b", "a"]))
    }
    finding = check_plans(0, plans)
    assert finding is not None
    assert "the order differs" in finding.message
    assert check_plans(0, {0: plans[0]}) is None


def test_a_stall_names_the_first_thing_each_rank_waits_for() -> None:
    later = request(0, id=9, operator="later")
    finding = HubFinding.stalled([later, request(0), request(1, operator="other")])
    assert finding.operators == ("HcomAllReduce", "other")
