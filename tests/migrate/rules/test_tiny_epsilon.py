"""Constants that float16 cannot hold are told where they guard against 0."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "tiny_epsilon"


@pytest.mark.parametrize(
    "line",
    [
        "loss = -tf.log(p + 1e-10)",
        "loss = -tf.compat.v1.math.log(tf.clip_by_value(p, 1e-10, 1.0))",
        "x = tf.nn.batch_normalization(x, m, v, b, s, variance_epsilon=1e-12)",
        "x = tf.contrib.layers.instance_norm(x, epsilon=1e-8)",
        "x = tf.reduce_sum(a) / (tf.reduce_sum(b) + 1e-8)",
        "x = tf.div(a, 1e-9 + b)",
        "EPSILON = 1e-8\nx = tf.sqrt(a + EPSILON)",
        "EPSILON = 1e-8\ndef encode(w):\n    w += EPSILON\n    return tf.stack([1 / w])",
    ],
)
def test_tiny_guards_are_told(line: str) -> None:
    told = check_unchanged(f"import tensorflow as tf\n{line}\n", RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "is 0 in float16" in told[0].message


@pytest.mark.parametrize(
    "line",
    [
        "loss = -tf.log(p + 1e-6)",
        "opt = tf.train.AdamOptimizer(rate, epsilon=1e-8)",
        "opt = tf.keras.optimizers.Adam(epsilon=1e-8)",
        "x = np.log(a + 1e-8)",
        "x = a / (b + 1e-8)",
        "def f(a):\n    b = tf.constant(1)\n    return np.sum(a) / (np.sum(b) + 1e-8)",
        "x = tf.constant(1e-8)",
        "x = tf.log(a + b)",
        "def count(n):\n    n += 1\n    return tf.constant(n)",
        "n = 0.0\nn += 1e-9",
    ],
)
def test_others_are_not_told(line: str) -> None:
    text = f"import numpy as np\nimport tensorflow as tf\n{line}\n"
    assert check_unchanged(text, RULE) == []


def test_a_constant_is_told_once_where_it_is_set() -> None:
    text = "import tensorflow as tf\nEPS = 1e-8\nx = tf.log(a + EPS)\ny = tf.log(b + EPS)\n"
    (told,) = check_unchanged(text, RULE)
    assert text[told.start : told.end] == "1e-8"
