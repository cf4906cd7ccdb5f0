"""Types that the NPU lacks are told where a tensor of the model gets one."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "unsupported_dtypes"
TOP = "import numpy as np\nimport tensorflow as tf\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = tf.cast(x, tf.float64)", "64-bit"),
        ("x = tf.zeros([3], dtype=tf.double)", "64-bit"),
        ("x = tf.compat.v1.placeholder(tf.float64, [])", "64-bit"),
        ("from tensorflow import to_double as d\nx = d(x)", "64-bit"),
        ("x = tf.complex(a, b)", "complex"),
        ("x = tf.cast(x, tf.complex64)", "complex"),
        ("x = tf.ragged.constant([[1], []])", "ragged"),
        ("x = tf.RaggedTensor.from_row_splits(v, s)", "ragged"),
    ],
)
def test_a_tensor_with_such_a_type_is_told(text: str, words: str) -> None:
    told = check_unchanged(f"{TOP}{text}\n", RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert words in told[0].message


@pytest.mark.parametrize(
    "text",
    [
        "if x.dtype == tf.float64: pass",
        "KINDS = {tf.float64: 8, tf.float32: 4}",
        "f = {'x': tf.FixedLenFeature([], tf.float64)}",
        "data = data.map(lambda x: tf.cast(x, tf.float64))",
        "x = np.zeros([3], np.float64)",
        "x = np.asarray(x, dtype=tf.float64)",
        "x = tf.cast(x, tf.float32)",
    ],
)
def test_questions_tables_files_and_numpy_are_left_alone(text: str) -> None:
    assert check_unchanged(f"{TOP}{text}\n", RULE) == []


def test_another_library_is_not_ours() -> None:
    assert check_unchanged("from mylib import tf\ntf.cast(x, tf.float64)\n", RULE) == []
