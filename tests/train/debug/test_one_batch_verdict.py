"""What is said about a batch that was to be learnt by heart, by what was seen of it."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from typing import Any

import pytest
import torch

from trainferry.train.data.batch import Batch
from trainferry.train.debug.one_batch.facts import BatchFacts, Contradiction, find_facts
from trainferry.train.debug.one_batch.learn import Course, Seen
from trainferry.train.debug.one_batch.verdict import judge
from trainferry.train.tasks.task import Example

WELL = BatchFacts(
    rows=20,
    different_samples=20,
    different_pictures=20,
    different_labels=9,
    empty_labels=0,
    plain_pictures=0,
)
READ = (Example(0, "ab", "b", 0.5),)
LEARNT = Course(
    steps=100,
    learning_rate=0.01,
    first_loss=2.0,
    middle_loss=0.5,
    last_loss=0.01,
    seen=Seen(20, READ),
    moved=0.3,
    trained_share=1.0,
)
WRONG = dataclasses.replace(LEARNT, seen=Seen(3, READ))


def make_batch(
    values: Sequence[int], labels: Sequence[int], numbers: Sequence[int] | None = None
) -> Batch:
    """One picture for each value, striped unless the value is negative."""
    images = torch.tensor([abs(value) for value in values]).expand(3, 4, 5, -1).permute(3, 1, 2, 0)
    images = images.to(torch.uint8).clone()
    images[torch.tensor(values) >= 0, ::2] += 100
    count = len(values)
    return Batch(
        images,
        torch.tensor(labels),
        torch.tensor([int(label > 0) for label in labels]),
        torch.ones(count, dtype=torch.bool),
        torch.tensor(range(count) if numbers is None else numbers),
        torch.tensor(0),
    )


def test_a_batch_is_counted() -> None:
    facts = find_facts(make_batch([1, 2, 3, -4], [5, 5, 6, 0]), str)
    assert facts == BatchFacts(
        rows=4,
        different_samples=4,
        different_pictures=4,
        different_labels=3,
        empty_labels=1,
        plain_pictures=1,
    )


def test_the_same_picture_with_two_labels_is_a_contradiction() -> None:
    facts = find_facts(make_batch([1, 2, 1, 1, 1], [5, 6, 7, 5, 8], [30, 31, 32, 33, 34]), str)
    assert facts.contradictions == (
        Contradiction((30, 32), ("30", "32")),
        Contradiction((30, 34), ("30", "34")),
    )
    assert facts.contradicted == 4


def test_a_sample_that_stands_in_the_batch_twice_contradicts_nothing() -> None:
    facts = find_facts(make_batch([1, 2, 1, 2], [5, 6, 5, 6], [8, 9, 8, 9]), str)
    assert (facts.rows, facts.different_samples, facts.contradictions) == (4, 2, ())


def test_a_few_wrong_samples_are_forgiven() -> None:
    for right, learnt in ((20, True), (19, True), (18, False)):
        course = dataclasses.replace(LEARNT, seen=Seen(right, READ))
        verdict = judge(WELL, course)
        assert verdict.learnt is learnt
        assert verdict.text == (
            f"{'learnt' if learnt else 'not learnt'}: {right} of 20 samples are right after 100 "
            "steps, the loss fell from 2 to 0.01"
        )


def test_what_ran_away_is_not_learnt_whatever_was_right_before() -> None:
    verdict = judge(WELL, dataclasses.replace(LEARNT, last_loss=math.nan))
    assert not verdict.learnt
    assert "out of range" in verdict.hints[0]


def test_contradictions_are_told_though_the_rest_was_learnt() -> None:
    pairs = tuple(Contradiction((0, n), ("ab", f"c{n}")) for n in range(1, 6))
    verdict = judge(dataclasses.replace(WELL, contradictions=pairs), LEARNT)
    assert verdict.learnt
    (hint,) = verdict.hints
    assert "samples 0 and 1 are the same picture, labelled 'ab' and 'c1'" in hint
    assert "and 2 more such pairs" in hint


def test_only_labels_are_blamed_where_contradictions_explain_what_is_wrong() -> None:
    pair = (Contradiction((0, 1), ("ab", "cd")),)
    facts = dataclasses.replace(WELL, contradicted=4, contradictions=pair)
    for right, hints in ((16, 1), (15, 2)):
        verdict = judge(facts, dataclasses.replace(WRONG, seen=Seen(right, READ)))
        assert not verdict.learnt
        assert len(verdict.hints) == hints
        assert "Labels contradict each other" in verdict.hints[0]


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"different_labels": 1}, "All samples have the same label"),
        ({"different_labels": 1, "empty_labels": 20}, "All labels are empty"),
    ],
)
def test_right_answers_prove_nothing_where_all_labels_are_alike(
    facts: dict[str, Any], words: str
) -> None:
    verdict = judge(dataclasses.replace(WELL, **facts), LEARNT)
    assert not verdict.learnt
    (hint,) = verdict.hints
    assert words in hint


def test_one_sample_alone_may_be_learnt() -> None:
    facts = find_facts(make_batch([1, 1], [5, 5], [8, 8]), str)
    verdict = judge(facts, dataclasses.replace(LEARNT, seen=Seen(2)))
    assert verdict.learnt
    assert verdict.hints == ()


def test_pictures_that_are_all_alike_or_show_nothing_are_told() -> None:
    alike = judge(dataclasses.replace(WELL, different_pictures=1, plain_pictures=20), WRONG)
    assert "All pictures are the same" in alike.hints[0]
    plain = judge(dataclasses.replace(WELL, plain_pictures=7), WRONG)
    assert "7 of 20 pictures are of one colour" in plain.hints[0]


@pytest.mark.parametrize(
    ("course", "way", "hint"),
    [
        ({"last_loss": 2.01, "moved": 1e-6}, "stayed at 2.01", "weights hardly moved"),
        ({"last_loss": 2.01}, "stayed at 2.01", "moved, but the loss did not"),
        ({"last_loss": 9.0}, "rose from 2 to 9", "is too high"),
        ({"last_loss": 0.4}, "fell from 2 to 0.4", "was still falling"),
        ({"last_loss": 0.49}, "fell from 2 to 0.49", "fell and then stayed"),
        ({"last_loss": 0.01}, "fell from 2 to 0.01", "low, but answers are still wrong"),
        ({"last_loss": math.nan}, "is nan", "out of range at step 100"),
        ({"last_loss": math.inf, "steps": 1}, "is inf", "not the learning rate"),
        ({"learning_rate": 0.0}, "fell", "The learning rate behind the warm-up is 0"),
    ],
)
def test_what_is_tried_next_follows_from_the_way_of_the_loss(
    course: dict[str, Any], way: str, hint: str
) -> None:
    verdict = judge(WELL, dataclasses.replace(WRONG, **course))
    assert f"the loss {way}" in verdict.text
    assert len(verdict.hints) == 1
    assert hint in verdict.hints[0]


def test_a_network_that_reads_nothing_yet_is_told_apart() -> None:
    nothing = Seen(0, (Example(0, "ab", "", 0.5),))
    verdict = judge(WELL, dataclasses.replace(LEARNT, seen=nothing))
    assert "still falling" in verdict.hints[0]
    assert "Nothing is read yet" in verdict.hints[1]


def test_frozen_weights_are_told() -> None:
    verdict = judge(WELL, dataclasses.replace(WRONG, trained_share=0.02, last_loss=1.0))
    assert "Only 2.0% of the weights are trained" in verdict.hints[0]


def test_a_verdict_is_json_whatever_the_loss_is() -> None:
    verdict = judge(WELL, dataclasses.replace(WRONG, first_loss=math.inf, last_loss=math.nan))
    told = json.loads(json.dumps(verdict.to_json(), allow_nan=False))
    assert (told["learnt"], told["first_loss"], told["last_loss"]) == (False, None, None)
    assert (told["right"], told["samples"], told["batch"]["rows"]) == (3, 20, 20)
