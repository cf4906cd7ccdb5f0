"""Training and evaluation in turns are told, on several devices."""

from __future__ import annotations

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "collective_between_phases"
PARALLEL = Options(distributed="hccl")
BOTH = "from tensorflow import estimator as te\nte.train_and_evaluate(e, train, evaluate)\n"
LOOP = """\
    import tensorflow as tf
    e = tf.estimator.Estimator(f)
    for _ in range(9):
        e.train(data)
        e.evaluate(data)
    """


def test_both_in_one_call_are_told() -> None:
    assert outcomes(check_unchanged(BOTH, RULE, PARALLEL)) == [Outcome.BY_HAND]


def test_one_device_has_no_collective() -> None:
    assert check_unchanged(BOTH, RULE) == []
    assert check_unchanged(LOOP, RULE) == []


def test_a_loop_of_both_is_told_once() -> None:
    assert outcomes(check_unchanged(LOOP, RULE, PARALLEL)) == [Outcome.BY_HAND]


def test_training_of_something_else_is_not_ours() -> None:
    text = "import tensorflow as tf\nfor i in x:\n    model.train(i)\n    model.evaluate(i)\n"
    assert check_unchanged(text, RULE, PARALLEL) == []
