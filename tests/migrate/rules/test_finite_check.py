"""Checks for overflow are told where they do not do what they seem to."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Concern, Outcome

RULE = "finite_check"
FIRST = Options(chip="910")


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\nok = [tf.is_finite(g) for g, _ in grads_and_vars]\n",
        "import tensorflow.compat.v1 as t\nok = t.reduce_all(t.math.is_finite(grads))\n",
        "from tensorflow import is_nan\ndef check_gradient(x):\n    return is_nan(x)\n",
        "import tensorflow as tf\nstep = tf.cond(tf.is_inf(x), down, loss_scale.up)\n",
    ],
)
def test_a_check_of_gradients_is_told_on_every_chip(text: str) -> None:
    (told,) = check_unchanged(text, RULE)
    assert told.outcome is Outcome.BY_HAND
    assert "NPULossScaleOptimizer" in told.message
    (told,) = check_unchanged(text, RULE, FIRST)
    assert "never finds an overflow on a 910" in told.message
    assert told.finding.concern is Concern.RESULT


def test_other_checks_matter_only_where_there_is_no_inf() -> None:
    text = "import tensorflow as tf\nloss = tf.check_numerics(tf.stop_gradient(loss), 'loss')\n"
    assert check_unchanged(text, RULE) == []
    assert outcomes(check_unchanged(text, RULE, FIRST)) == [Outcome.BY_HAND]


def test_input_pipelines_and_other_libraries_are_left_alone() -> None:
    text = "import tensorflow as tf\ndata = data.map(lambda x: tf.where(tf.is_nan(x), zero, x))\n"
    assert check_unchanged(text, RULE, FIRST) == []
    assert check_unchanged("from mylib import tf\ntf.is_finite(grads)\n", RULE, FIRST) == []
