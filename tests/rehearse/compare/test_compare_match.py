"""Variables of two runs find their partners, and a few of many are chosen evenly."""

from __future__ import annotations

from trainferry.rehearse.probe.record.match import match, spread


def kinds(**shapes: list[int]) -> dict[str, object]:
    return {name: ["float32", shape] for name, shape in shapes.items()}


def test_a_name_wins_over_a_shape() -> None:
    assert match(kinds(a=[2], b=[2]), kinds(b=[2], a=[2])) == {"a": "a", "b": "b"}


def test_the_same_name_with_another_shape_is_no_partner() -> None:
    assert match(kinds(a=[2]), kinds(a=[3])) == {}


def test_shapes_pair_in_order_where_their_numbers_agree() -> None:
    first = kinds(fw=[4, 8], bw=[4, 8], bias=[8], same=[1])
    second = kinds(same=[1], w=[4, 8], w_1=[4, 8], b=[8])
    assert match(first, second) == {"same": "same", "w": "fw", "w_1": "bw", "b": "bias"}


def test_shapes_that_one_side_has_more_of_stay_alone() -> None:
    assert match(kinds(x=[2], y=[2]), kinds(z=[2])) == {}


def test_shapes_that_nobody_knows_are_paired_too() -> None:
    assert match({"a": ["float32", None]}, {"b": ["float32", None]}) == {"b": "a"}


def test_the_first_and_last_of_many_are_chosen() -> None:
    names = [str(number) for number in range(100)]
    assert spread(names, 3) == ["0", "50", "99"]
    assert spread(names[:2], 3) == ["0", "1"]
    assert len(set(spread(names, 20))) == 20
    assert spread(names, 1) == ["99"]
    assert spread(names, 0) == []
