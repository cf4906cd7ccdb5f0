"""Fed and trained values inside an input pipeline are told."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "pipeline_constants"


def test_a_fed_batch_size_is_told_where_it_is_used() -> None:
    told = check_unchanged(
        """\
        import tensorflow.compat.v1 as tf
        size = tf.placeholder(tf.int64)
        data = tf.data.TFRecordDataset(files).shuffle(100).batch(size)
        """,
        RULE,
    )
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "`size` is a placeholder" in told[0].message


def test_an_attribute_of_the_object_is_followed() -> None:
    told = check_unchanged(
        """\
        import tensorflow as tf
        class Model:
            def __init__(self):
                self.size = tf.Variable(32)
            def read(self, files):
                return tf.data.TFRecordDataset(files).batch(batch_size=self.size)
        """,
        RULE,
    )
    assert "`self.size` is a variable" in told[0].message


def test_an_attribute_that_is_none_at_first_is_followed() -> None:
    told = check_unchanged(
        """\
        import tensorflow as tf
        class Data:
            def __init__(self):
                self.size = None
                self.size = tf.placeholder(tf.int64, [])
                self.rows = tf.data.TFRecordDataset(files).batch(self.size)
        """,
        RULE,
    )
    assert "`self.size` is a placeholder" in told[0].message


def test_a_variable_in_a_mapped_function_is_told() -> None:
    told = check_unchanged(
        """\
        from tensorflow import Variable, data
        mean = Variable(0.5)
        def scale(x):
            return x - mean + Variable(1.0)
        rows = data.Dataset.range(9).map(scale)
        """,
        RULE,
    )
    assert outcomes(told) == [Outcome.BY_HAND, Outcome.BY_HAND]


@pytest.mark.parametrize(
    "text",
    [
        "files = tf.placeholder(tf.string)\ndata = tf.data.TFRecordDataset(files).batch(3)\n",
        "size = 3\ndata = tf.data.TFRecordDataset(files).batch(size)\n",
        "size = tf.placeholder(tf.int64)\ndef read(size):\n"
        "    return tf.data.TFRecordDataset(files).batch(size)\n",
        "size = tf.placeholder(tf.int64)\nloader.batch(size)\n",
        "class A:\n  def f(self):\n    self.n = None\n    self.n = 3\n"
        "    self.n = tf.placeholder(t)\n    tf.data.TFRecordDataset(files).batch(self.n)\n",
    ],
)
def test_constants_and_the_data_itself_are_fine(text: str) -> None:
    assert check_unchanged(f"import tensorflow as tf\n{text}", RULE) == []
