"""Eager programs are told that NPUs run graphs, once per place."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.rule import Concern, Outcome

RULE = "eager_mode"


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\ntf.enable_eager_execution()\n",
        "import tensorflow as foo\nfoo.compat.v1.enable_eager_execution()\n",
        "from tensorflow import enable_eager_execution as go\ngo()\n",
        "import tensorflow.contrib.eager as tfe\ntfe.enable_eager_execution()\n",
        "import tensorflow as tf\ntfe = tf.contrib.eager\ntfe.enable_eager_execution(config=c)\n",
        "import tensorflow.compat.v1 as tf\ntf.enable_v2_behavior()\n",
        "import tensorflow as tf\ntf.config.experimental_run_functions_eagerly(True)\n",
        "import tensorflow as tf\nfor x in tf.contrib.eager.Iterator(data): pass\n",
    ],
)
def test_eager_mode_is_told(text: str) -> None:
    (told,) = check_unchanged(text, RULE)
    assert told.outcome is Outcome.BY_HAND
    assert (told.finding.concern or told.rule.concern) is Concern.RUN


def test_a_branch_for_eager_mode_is_untidy() -> None:
    text = "import tensorflow as tf\nif not tf.executing_eagerly():\n    x = 1\n"
    (told,) = check_unchanged(text, RULE)
    assert told.finding.concern is Concern.TIDY


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\nprint(tf.executing_eagerly())\n",
        "import tensorflow as tf\ntf.disable_eager_execution()\n",
        "import tensorflow as tf\nwith tf.GradientTape() as tape: pass\n",
        "import tensorflow as tf\n@tf.function\ndef f(): pass\n",
        "import mine\nmine.enable_eager_execution()\n",
        "import tensorflow as tf\nclass NetTest(tf.test.TestCase):\n"
        "    def test(self):\n        tf.enable_eager_execution()\n",
    ],
)
def test_the_rest_is_not_told(text: str) -> None:
    assert check_unchanged(text, RULE) == []


def test_what_follows_from_eager_mode_is_not_told_again() -> None:
    text = "import tensorflow as tf\ntf.enable_eager_execution()\ntf.contrib.eager.Iterator(d)\n"
    assert outcomes(check_unchanged(text, RULE)) == [Outcome.BY_HAND]


def test_a_switch_that_a_flag_leaves_off_is_worth_knowing_only() -> None:
    text = "import tensorflow as tf\nif flags.eager:\n    tf.enable_eager_execution()\n"
    (told,) = check_unchanged(text, RULE)
    assert told.finding.concern is Concern.TIDY


@pytest.mark.parametrize(
    "lines",
    [
        "opt = tf.optimizers.Adam()\n",
        "loss = tf.losses.SparseCategoricalCrossentropy()\n",
        "for x in tf.data.Dataset.range(9).batch(2): pass\n",
        "for i, x in enumerate(tf.data.Dataset.range(9).batch(2)): pass\n",
    ],
)
def test_a_program_for_tensorflow_2_is_told(lines: str) -> None:
    (told,) = check_unchanged(f"import tensorflow as tf\n{lines}", RULE)
    assert "TensorFlow 2" in told.message


@pytest.mark.parametrize(
    "lines",
    [
        "if new:\n    opt = tf.optimizers.Adam()\n",
        "try:\n    opt = tf.optimizers.Adam()\nexcept AttributeError: pass\n",
        "@tf.function\ndef f():\n    for x in tf.data.Dataset.range(9): pass\n",
        "for x in tf.losses.get_losses(): pass\n",
    ],
)
def test_what_graphs_can_do_is_no_sign_of_tensorflow_2(lines: str) -> None:
    assert check_unchanged(f"import tensorflow as tf\n{lines}", RULE) == []


def test_no_rule_changes_an_eager_program() -> None:
    text = (
        "import tensorflow as tf\ntf.enable_eager_execution()\n"
        "data = tf.data.Dataset.range(9).shuffle(9).repeat().batch(2)\n"
        "with tf.device('/gpu:0'):\n    y = tf.nn.dropout(x, 0.5)\n"
    )
    (told,) = check_unchanged(text, "*")
    assert told.rule.name == RULE
