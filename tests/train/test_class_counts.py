"""Precision, recall and F1 are scikit-learn's, and what cannot be divided is said, not zero."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainferry.train.scores.class_counts import ClassCounts

# Class 2 and 5 are never named, 4 has no sample but is named, 6 occurs nowhere.
TRUTHS = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 3, 5]
ANSWERS = [0, 0, 0, 1, 1, 0, 1, 0, 3, 4, 3, 4]
NONE = float("nan")


def counted(truths: list[int], answers: list[int], classes: int = 7) -> ClassCounts:
    one, two = np.array(truths, np.int64), np.array(answers, np.int64)
    return ClassCounts.count(one, two, one == two, classes)


def test_every_class_has_the_values_of_scikit_learn() -> None:
    """`precision_recall_fscore_support(..., labels=range(7), zero_division=nan)` of 1.9.1."""
    counts = counted(TRUTHS, ANSWERS)
    assert counts.precision() == pytest.approx([0.6, 1 / 3, NONE, 1, 0, NONE, NONE], nan_ok=True)
    assert counts.recall() == pytest.approx([0.75, 0.5, 0, 2 / 3, NONE, 0, NONE], nan_ok=True)
    assert counts.f1() == pytest.approx([2 / 3, 0.4, 0, 0.8, 0, 0, NONE], nan_ok=True)


def test_averages_are_those_of_scikit_learn_over_the_classes_with_samples() -> None:
    """As above with `labels=sorted(set(truths)), zero_division=0` and both ways to average."""
    assert counted(TRUTHS, ANSWERS).averages() == pytest.approx(
        {
            "macro_precision": 0.38666666666666666,
            "macro_recall": 0.3833333333333333,
            "macro_f1": 0.37333333333333335,
            "weighted_precision": 0.5055555555555555,
            "weighted_f1": 0.48888888888888893,
        },
        rel=1e-15,
    )


def test_classes_that_are_never_named_are_told() -> None:
    counts = counted(TRUTHS, ANSWERS)
    assert np.flatnonzero(counts.never_named()).tolist() == [2, 5]


def test_rows_tell_what_has_no_value_as_none() -> None:
    rows = counted(TRUTHS, ANSWERS).rows()
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    assert rows[2] == {
        "samples": 2,
        "named": 0,
        "right": 0,
        "precision": None,
        "recall": 0,
        "f1": 0,
    }
    assert rows[6]["f1"] is None
    assert (rows[4]["precision"], rows[4]["recall"], rows[4]["f1"]) == (0, None, 0)


def test_without_samples_averages_are_zero() -> None:
    assert set(ClassCounts.none(3).averages().values()) == {0.0}


def test_all_right_is_all_one() -> None:
    counts = counted([0, 1, 1, 3], [0, 1, 1, 3])
    assert set(counts.averages().values()) == {1.0}


pairs = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=60)


@settings(max_examples=60, deadline=None)
@given(pairs, st.integers(1, 5))
def test_averages_are_equal_to_the_last_bit_for_any_number_of_parts(
    samples: list[tuple[int, int]], parts: int
) -> None:
    whole = counted([truth for truth, _ in samples], [answer for _, answer in samples])
    together = ClassCounts.none(7)
    for rank in range(parts):
        own = samples[rank::parts]
        together += counted([truth for truth, _ in own], [answer for _, answer in own])
    assert together.averages() == whole.averages()


@settings(max_examples=60, deadline=None)
@given(pairs)
def test_a_recall_weighted_by_samples_is_the_share_named_right(
    samples: list[tuple[int, int]],
) -> None:
    counts = counted([truth for truth, _ in samples], [answer for _, answer in samples])
    right = sum(truth == answer for truth, answer in samples)
    assert np.nansum(counts.recall() * counts.samples) == pytest.approx(right)
    assert counts.named.sum() == len(samples)
