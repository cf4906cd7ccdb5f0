"""Scores of one share of the data are told, once."""

from __future__ import annotations

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "metric_reduction"
SCORES = "import tensorflow as tf\na = tf.metrics.accuracy(x, y)\nb = tf.metrics.mean(x)\n"


def test_the_first_score_is_told() -> None:
    told = check_unchanged(SCORES, RULE, Options(distributed="hccl"))
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "npu_allreduce(value)" in told[0].message


def test_horovod_programs_are_told_too() -> None:
    told = check_unchanged(f"import horovod.tensorflow as hvd\nhvd.init()\n{SCORES}", RULE)
    assert len(told) == 1


def test_scores_that_are_reduced_are_fine() -> None:
    text = f"import horovod.tensorflow as hvd\n{SCORES}hvd.allreduce(a)\n"
    assert check_unchanged(text, RULE) == []


def test_one_device_has_all_the_data() -> None:
    assert check_unchanged(SCORES, RULE) == []
