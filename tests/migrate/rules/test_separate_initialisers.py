"""Variables and iterators are initialised in two runs."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_migrated, check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "separate_initialisers"

PROGRAM = """\
import tensorflow as tf
iterator = tf.data.TFRecordDataset(files).batch(3).make_initializable_iterator()
other = tf.data.Iterator.from_structure(types, shapes)
init = tf.global_variables_initializer()
with tf.Session() as sess:
    {run}
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "sess.run([tf.global_variables_initializer(), iterator.initializer])  # all",
            "sess.run([tf.global_variables_initializer()])  # all\n"
            "    sess.run([iterator.initializer])",
        ),
        (
            "sess.run((iterator.initializer, init))",
            "sess.run((init))\n    sess.run([iterator.initializer])",
        ),
        (
            "sess.run([init, iterator.initializer, other.make_initializer(data)], {names: files})",
            "sess.run([init], {names: files})\n"
            "    sess.run([iterator.initializer, other.make_initializer(data)], {names: files})",
        ),
        (
            "sess.run(tf.group(init, iterator.initializer, tf.tables_initializer()))",
            "sess.run(tf.group(init, tf.tables_initializer()))\n"
            "    sess.run([iterator.initializer])",
        ),
    ],
)
def test_one_run_becomes_two(before: str, after: str) -> None:
    told = check_migrated(PROGRAM.format(run=before), PROGRAM.format(run=after), RULE)
    assert outcomes(told) == [Outcome.CHANGED]


@pytest.mark.parametrize(
    "run",
    [
        "_ = sess.run([init, iterator.initializer])",
        "sess.run([init,  # weights\n        iterator.initializer])",
        "everything = tf.group(init, iterator.initializer); sess.run(everything)",
        "everything = [init, iterator.initializer]\n    sess.run(everything)",
        "scaffold = tf.train.Scaffold(init_op=tf.group(init, iterator.initializer))",
        "sess.run([init, self.train_iterator.initializer])",
        "sess.run([init, iterator.initializer]); print(1)",
    ],
)
def test_what_is_not_plain_is_left_to_the_user(run: str) -> None:
    told = check_unchanged(PROGRAM.format(run=run), RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "run(" in told[0].message


@pytest.mark.parametrize(
    "run",
    [
        "sess.run(init); sess.run(iterator.initializer)",
        "sess.run([tf.local_variables_initializer(), iterator.initializer])",
        "sess.run([init, tf.tables_initializer()])",
        "sess.run([init, weight.initializer])",
        "pool.run([train, iterator.initializer])",
    ],
)
def test_other_runs_are_not_ours(run: str) -> None:
    assert check_unchanged(PROGRAM.format(run=run), RULE) == []


def test_other_spellings_are_known() -> None:
    check_migrated(
        """\
        from tensorflow.compat import v1 as tf
        from tensorflow.compat.v1 import global_variables_initializer as start
        def run(sess, dataset: tf.data.Dataset):
            batches = tf.data.make_initializable_iterator(dataset)
            sess.run([start(), batches.initializer])
        """,
        """\
        from tensorflow.compat import v1 as tf
        from tensorflow.compat.v1 import global_variables_initializer as start
        def run(sess, dataset: tf.data.Dataset):
            batches = tf.data.make_initializable_iterator(dataset)
            sess.run([start()])
            sess.run([batches.initializer])
        """,
        RULE,
    )
