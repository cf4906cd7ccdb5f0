"""Scores of photographs: every sample once, whatever batches and processes; and the mistakes."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from trainferry.train.data.batch import Batch
from trainferry.train.scores.classes import EXAMPLES, LARGEST_MATRIX, ClassScore, in_top
from trainferry.train.tasks.classify import Classify

NAMES = ("cat", "dog", "cow", "hen", "pig", "fox", "owl", "bee")
TASK = Classify(NAMES, background=True)


def batch(labels: Tensor, valid: Tensor | None = None, first: int = 0, skipped: int = 0) -> Batch:
    count = len(labels)
    return Batch(
        images=torch.zeros(count, 1, 1, 3, dtype=torch.uint8),
        labels=labels,
        lengths=torch.ones(count, dtype=torch.int64),
        valid=torch.ones(count, dtype=torch.bool) if valid is None else valid,
        positions=torch.arange(first, first + count),
        skipped=torch.tensor(skipped),
    )


def samples(count: int, seed: int = 0, classes: int = 9) -> tuple[Tensor, Tensor]:
    """Scores in which the truth is often, but not always, the highest."""
    stream = torch.Generator().manual_seed(seed)
    labels = torch.randint(1, classes, (count,), generator=stream)
    logits = torch.randn(count, classes, generator=stream)
    logits[torch.arange(count), labels] += 1.5
    return logits, labels


def scored(logits: Tensor, labels: Tensor, size: int, first: int = 0) -> ClassScore:
    """Count the samples in batches of one size, the last filled up with rows that do not count."""
    score = TASK.new_score()
    for start in range(0, len(labels), size):
        rows = torch.arange(start, start + size)
        valid = rows < len(labels)
        rows = rows.clamp(max=len(labels) - 1)
        score.add(logits[rows], batch(labels[rows], valid, first + start))
    return score


def test_values_are_those_counted_by_hand() -> None:
    logits, labels = samples(50)
    score = scored(logits, labels, 50)
    order = np.argsort(-logits.numpy(), axis=1)
    truth = labels.numpy()[:, None]
    values = score.values()
    assert values["top1"] == pytest.approx((order[:, :1] == truth).any(1).mean())
    assert values["top5"] == pytest.approx((order[:, :5] == truth).any(1).mean())
    assert values["top1"] < values["top5"] < 1
    loss = torch.nn.functional.cross_entropy(logits.double(), labels)
    assert values["loss"] == pytest.approx(float(loss), rel=1e-6)
    assert values["samples"] == 50


def test_the_loss_is_the_smoothed_one_of_the_task() -> None:
    task = Classify(NAMES, background=True, label_smoothing=0.1)
    logits, labels = samples(20)
    score = task.new_score()
    score.add(logits, batch(labels))
    expected = torch.nn.functional.cross_entropy(logits, labels, label_smoothing=0.1)
    assert score.values()["loss"] == pytest.approx(float(expected))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(1, 45), st.integers(1, 4))
def test_scores_do_not_depend_on_batches_or_processes(
    count: int, size: int, processes: int
) -> None:
    logits, labels = samples(count, count)
    whole = scored(logits, labels, count)
    edges = [count * rank // processes for rank in range(processes + 1)]
    parts = [
        scored(logits[start:end], labels[start:end], size, first=start)
        for start, end in pairwise(edges)
    ]
    added = {key: sum(part.state()[key] for part in parts) for key in whole.state()}
    loaded = TASK.new_score()
    loaded.load_state(added)
    merged = parts[-1]
    for part in parts[:-1]:
        merged.merge(part)
    for score in (loaded, merged):
        assert score.values() == pytest.approx(whole.values(), rel=1e-6)
        assert score.counts.averages() == whole.counts.averages()
        assert score.counts.rows() == whole.counts.rows()
    assert merged.details() == whole.details()
    assert merged.examples() == whole.examples()


def test_rows_that_fill_a_batch_never_count() -> None:
    logits, labels = samples(3)
    score = TASK.new_score()
    score.add(logits, batch(labels, torch.tensor([False, False, False]), skipped=2))
    values = score.values()
    assert values["samples"] == values["loss"] == values["top1"] == 0
    assert values["unreadable"] == 2
    assert score.examples() == []


def test_labels_among_equals_are_in_the_top_as_in_tensorflow() -> None:
    scores = torch.tensor([[1.0, 2.0, 2.0, 2.0, 0.0]]).repeat(5, 1)
    labels = torch.arange(5)
    assert in_top(scores, labels, 1).tolist() == [False, True, True, True, False]
    assert in_top(scores, labels, 3).tolist() == [False, True, True, True, False]
    assert in_top(scores, labels, 4).tolist() == [True, True, True, True, False]
    broken = torch.tensor([[1.0, float("nan")], [float("inf"), 0.0]])
    assert in_top(broken, torch.tensor([0, 0]), 2).tolist() == [False, False]


def test_a_network_that_answers_nothing_scores_no_better_than_its_first_class() -> None:
    score = TASK.new_score()
    score.add(torch.zeros(8, 9), batch(torch.arange(1, 9)))
    assert score.values()["top1"] == 0
    score.add(torch.full((1, 9), float("nan")), batch(torch.tensor([0])))
    assert score.values()["top1"] == score.details()["classes"][0]["right"] == 0


def test_fewer_than_five_classes_are_all_in_the_top_five() -> None:
    score = Classify(("cat", "dog"), background=False).new_score()
    score.add(torch.tensor([[0.0, 1.0], [0.0, 1.0]]), batch(torch.tensor([0, 1])))
    assert score.values()["top5"] == 1
    assert score.values()["top1"] == 0.5


def confused_score(background: bool = True) -> ClassScore:
    """Three cats, of which two are dogs to the network; two dogs right; a cow taken for a cat."""
    task = Classify(NAMES, background=background)
    shift = 0 if background else -1
    truths, answers = [1, 1, 1, 2, 2, 3], [1, 2, 2, 2, 2, 1]
    score = task.new_score()
    logits = 5 * torch.nn.functional.one_hot(torch.tensor(answers) + shift, task.outputs).float()
    score.add(logits, batch(torch.tensor(truths) + shift, first=20))
    return score


@pytest.mark.parametrize("background", [True, False])
def test_details_tell_every_class_and_what_it_is_taken_for(background: bool) -> None:
    details = confused_score(background).details()
    assert json.loads(json.dumps(details)) == details
    rows = {row["name"]: row for row in details["classes"]}
    assert ("background" in rows) == background
    assert rows["cat"] == {
        "label": 1,
        "name": "cat",
        "samples": 3,
        "named": 2,
        "right": 1,
        "precision": 1 / 2,
        "recall": 1 / 3,
        "f1": 2 / 5,
        "taken_for": "dog",
        "times": 2,
    }
    assert rows["dog"]["taken_for"] is None
    assert rows["bee"]["label"] == 8
    assert rows["bee"]["precision"] is rows["bee"]["recall"] is rows["bee"]["f1"] is None
    assert rows["cow"]["precision"] is None
    assert rows["cow"]["f1"] == 0
    assert [(pair["truth"], pair["read"], pair["times"]) for pair in details["confused"]] == [
        ("cat", "dog", 2),
        ("cow", "cat", 1),
    ]
    assert details["confused"][0]["truth_label"] == 1
    assert details["confused"][0]["read_label"] == 2
    matrix = np.array(details["matrix"])
    first = 1 if background else 0
    assert matrix[first : first + 3, first : first + 3].tolist() == [
        [1, 2, 0],
        [0, 2, 0],
        [1, 0, 0],
    ]
    assert matrix.sum() == 6


@pytest.mark.parametrize("background", [True, False])
def test_averages_stand_among_the_values_with_what_they_leave_out(background: bool) -> None:
    values = confused_score(background).values()
    # A cow was never named: its precision adds 0.
    assert values["macro_precision"] == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)
    assert values["macro_recall"] == pytest.approx((1 / 3 + 1 + 0) / 3)
    assert values["macro_f1"] == pytest.approx((2 / 5 + 2 / 3 + 0) / 3)
    assert values["weighted_precision"] == pytest.approx((3 / 2 + 2 / 2 + 0) / 6)
    assert values["weighted_f1"] == pytest.approx((3 * 2 / 5 + 2 * 2 / 3 + 0) / 6)
    assert values["classes_never_named"] == 1
    assert values["classes_without_samples"] == len(NAMES) - 3


def test_confusions_that_are_not_known_for_all_samples_are_not_told() -> None:
    one, two = confused_score(), confused_score()
    one.load_state({key: value + two.state()[key] for key, value in one.state().items()})
    details = one.details()
    assert details["confused"] is None
    assert details["matrix"] is None
    cat = details["classes"][1]
    assert (cat["samples"], cat["right"], cat["taken_for"]) == (6, 2, None)


def test_many_classes_have_pairs_but_no_matrix() -> None:
    task = Classify(tuple(f"class {n}" for n in range(1, LARGEST_MATRIX + 2)), background=False)
    score = task.new_score()
    logits, labels = samples(300, classes=task.outputs)
    score.add(logits, batch(labels))
    details = score.details()
    assert details["matrix"] is None
    assert sum(pair["times"] for pair in details["confused"]) == 300 * (1 - score.values()["top1"])
    assert int(score.matrix().sum()) == 300


def test_examples_show_mistakes_first() -> None:
    score = confused_score()
    shown = [(one.position, one.truth, one.read) for one in score.examples()]
    assert shown == [
        (21, "cat", "dog"),
        (22, "cat", "dog"),
        (25, "cow", "cat"),
        (20, "cat", "cat"),
        (23, "dog", "dog"),
        (24, "dog", "dog"),
    ]
    assert 0.9 < score.examples()[0].confidence < 1
    for _ in range(5):
        score.merge(confused_score())
    assert len(score.examples()) == EXAMPLES


def test_scores_are_counted_on_the_device(emulated_npu: torch.device) -> None:
    logits, labels = samples(20)
    here, there = TASK.new_score(), TASK.new_score()
    here.add(logits, batch(labels))
    there.add(logits.to(emulated_npu), batch(labels).to(emulated_npu))
    assert there.values() == pytest.approx(here.values())
    assert there.details() == here.details()
