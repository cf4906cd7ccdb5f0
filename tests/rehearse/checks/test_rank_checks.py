"""What ranks must have in common, and what is told of them from elsewhere."""

from __future__ import annotations

from tests.rehearse.checks.made_up_facts import note, op, trained
from trainferry.rehearse.check import check_run
from trainferry.rehearse.facts import RunFacts
from trainferry.rehearse.finding import Severity
from trainferry.rehearse.hub_checks import HubFinding

REDUCED = op("reduce", "PyFunc", stand_in="HcomAllReduce")


def rank(number: int, weights: dict[int, dict[str, int]], batches: dict[int, int]) -> RunFacts:
    return trained(REDUCED, rank=number, ranks=2, weights=weights, batches=batches)


def test_equal_ranks_have_nothing_to_tell() -> None:
    ranks = [rank(0, {1: {"w": 5}}, {1: 1, 2: 2}), rank(1, {1: {"w": 5}}, {1: 3, 2: 4})]
    assert check_run(ranks) == []


def test_weights_that_differ_are_told_at_the_first_step() -> None:
    ranks = [
        rank(0, {1: {"w": 5, "b": 1}, 2: {"w": 6, "b": 2}}, {1: 1, 2: 2}),
        rank(1, {1: {"w": 7, "b": 1}, 2: {"w": 8, "b": 3}}, {1: 3, 2: 4}),
    ]
    (finding,) = check_run(ranks)
    assert (finding.check, finding.operators) == ("weights-differ", ("w",))
    assert "after step 1, 1 of 2" in finding.message
    assert finding.ranks == (0, 1)


def test_ranks_that_read_the_same_are_told() -> None:
    ranks = [rank(0, {}, {1: 1, 2: 2}), rank(1, {}, {1: 1, 2: 2})]
    (finding,) = check_run(ranks)
    assert (finding.check, finding.severity) == ("same-batch", Severity.RISK)


def test_one_batch_for_all_steps_is_made_up_data() -> None:
    assert check_run([rank(0, {}, {1: 1, 2: 1}), rank(1, {}, {1: 1, 2: 1})]) == []


def test_gradients_must_be_exchanged() -> None:
    ranks = [trained(op("it", "MatMul"), rank=number, ranks=2) for number in (0, 1)]
    (finding,) = check_run(ranks)
    assert (finding.check, finding.ranks) == ("no-allreduce", (0, 1))


def test_the_same_on_all_ranks_is_told_once() -> None:
    ranks = [trained(REDUCED, op("it", "Lgamma"), rank=number, ranks=2) for number in (0, 1)]
    (finding,) = check_run(ranks)
    assert finding.ranks == (0, 1)


def test_notes_of_stand_ins_become_findings() -> None:
    (finding,) = check_run([trained(notes=(note("wrapped-twice"),))])
    assert (finding.check, finding.severity) == ("wrapped-twice", Severity.REFUSED)
    assert (finding.message, finding.places) == ("a message", ("train.py:note",))


def test_a_note_without_a_check_is_told_all_the_same() -> None:
    (finding,) = check_run([trained(notes=(note("something-new"),))])
    assert (finding.check, finding.severity) == ("something-new", Severity.NOTE)


def test_what_the_hub_found_becomes_a_finding() -> None:
    told = HubFinding("rank-left", "rank 1 left", (0,), ("HcomAllReduce",), ("a.py:3", ""))
    (finding,) = check_run([trained(REDUCED)], [told])
    assert (finding.check, finding.severity) == ("rank-left", Severity.REFUSED)
    assert (finding.places, finding.ranks) == (("a.py:3",), (0,))


def test_the_gravest_come_first() -> None:
    told = check_run([trained(op("a", "Lgamma"), op("b", "PyFunc"), op("c", "Merge"))])
    assert [one.severity for one in told] == [Severity.REFUSED, Severity.RISK, Severity.NOTE]


def test_a_script_without_tensorflow_has_nothing_to_check() -> None:
    assert check_run([RunFacts()]) == []
