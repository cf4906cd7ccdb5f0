"""Strings that switch something in the model are told."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "string_switch"
TOP = "import tensorflow as tf\n"


@pytest.mark.parametrize(
    "text",
    [
        "ok = tf.equal(phase, tf.constant('train', dtype=tf.string))",
        "ok = tf.equal(phase, 'train')",
        "phase = tf.placeholder(tf.string, name='phase')\nok = tf.equal(phase, other)",
        "def net():\n    phase = tf.constant('train')\n    return tf.math.not_equal(x, phase)",
        "class Net:\n    def __init__(self):\n        self.phase = tf.constant('train')\n"
        "    def is_training(self):\n        return tf.equal(self.phase, x)",
    ],
)
def test_a_comparison_with_a_string_is_told(text: str) -> None:
    assert outcomes(check_unchanged(f"{TOP}{text}\n", RULE)) == [Outcome.BY_HAND]


@pytest.mark.parametrize(
    "text",
    [
        f"{TOP}ok = tf.equal(label, tf.constant(1, name='one'))\n",
        f"{TOP}name = tf.constant('file.txt')\nimage = tf.read_file(name)\n",
        f"{TOP}data = data.filter(lambda x: tf.equal(x, 'train'))\n",
        "from mylib import tf\nok = tf.equal(phase, 'train')\n",
    ],
)
def test_numbers_and_input_pipelines_are_left_alone(text: str) -> None:
    assert check_unchanged(text, RULE) == []
