"""What ranks must have in common, and what is told of them from elsewhere."""

from __future__ import annotations

from tests.rehearse.checks.made_up_facts import note, op, trained
from trainferry.rehearse.check import check_run
from trainferry.rehearse.facts import DATA, FED, Operator, RunFacts
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


def test_arrays_that_are_fed_are_shared_out_by_slices() -> None:
    fed = op("x", "Placeholder", function=FED)
    batches = {1: 1, 2: 2}
    ranks = [trained(REDUCED, fed, rank=one, ranks=2, batches=batches) for one in (0, 1)]
    (finding,) = check_run(ranks)
    assert "`samples[get_rank_id()::get_rank_size()]`" in finding.hint
    read = op("next", "IteratorGetNext")
    ranks = [trained(REDUCED, read, rank=one, ranks=2, batches=batches) for one in (0, 1)]
    assert "dataset.shard" in check_run(ranks)[0].hint


def test_one_batch_for_all_steps_is_made_up_data() -> None:
    assert check_run([rank(0, {}, {1: 1, 2: 1}), rank(1, {}, {1: 1, 2: 1})]) == []


def reading(number: int, *pipeline: Operator, seed: int = 0, batch: int = 0) -> RunFacts:
    """A rank that shuffles; its batches have the checksums `batch` and the next."""
    return trained(
        REDUCED,
        op("iterator", "IteratorV2", dtype="resource"),
        op("next", "IteratorGetNext", ["iterator"]),
        op("make", "MakeIterator", ["mixed", "iterator"], function=DATA),
        op("mixed", "ShuffleDataset", ["data", "room", "seed"], function=DATA),
        op("seed", "Const", attributes={"value": seed}, function=DATA),
        op("files", "Const", attributes={"crc": 7}, function=DATA),
        *pipeline,
        rank=number,
        ranks=2,
        batches={1: batch, 2: batch + 1},
    )


ALL = op("data", "TFRecordDataset", ["files"], function=DATA)


def test_ranks_that_shuffle_the_same_data_are_told() -> None:
    (finding,) = check_run([reading(0, ALL), reading(1, ALL, seed=1, batch=5)])
    assert (finding.check, finding.severity) == ("unshared-data", Severity.NOTE)
    assert finding.places == ("train.py:data",)


def test_data_that_is_shared_out_or_cannot_be_seen_is_not_told() -> None:
    shared = op("data", "ShardDataset", ["all"], function=DATA)
    inner = op("all", "TFRecordDataset", ["files"], function=DATA)
    assert check_run([reading(0, shared, inner), reading(1, shared, inner, batch=5)]) == []
    made = op("data", "GeneratorDataset", function=DATA)
    assert check_run([reading(0, made), reading(1, made, batch=5)]) == []
    skipped = [
        (
            op("data", "SkipDataset", ["all", "count"], function=DATA),
            op("count", "Const", attributes={"value": number}, function=DATA),
            inner,
        )
        for number in (0, 24)
    ]
    assert check_run([reading(0, *skipped[0]), reading(1, *skipped[1], batch=5)]) == []


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
