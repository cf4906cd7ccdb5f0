"""Dropout becomes the NPU's, with the same share of values kept."""

from __future__ import annotations

from tests.migrate.rules.migrated import check_migrated, check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "fused_dropout"


def test_keep_prob_keeps_its_place() -> None:
    told = check_migrated(
        """\
        import tensorflow as tf

        net = tf.nn.dropout(net,  0.8)  # after the stem
        """,
        """\
        import tensorflow as tf
        from npu_bridge.estimator import npu_ops

        net = npu_ops.dropout(net,  0.8)  # after the stem
        """,
        RULE,
    )
    assert outcomes(told) == [Outcome.CHECK]


def test_a_rate_is_turned_round_whole() -> None:
    check_migrated(
        """\
        from tensorflow.compat.v1 import nn
        net = nn.dropout(net, rate=1 - keep)
        """,
        """\
        from tensorflow.compat.v1 import nn
        from npu_bridge.estimator import npu_ops
        net = npu_ops.dropout(net, keep_prob=1 - (1 - keep))
        """,
        RULE,
    )


def test_one_inside_the_other_is_migrated_too() -> None:
    check_migrated(
        """\
        import tensorflow as tf
        net = tf.nn.dropout(tf.nn.dropout(net, rate=a), rate=tf.nn.dropout(b, .5))
        """,
        """\
        import tensorflow as tf
        from npu_bridge.estimator import npu_ops
        net = npu_ops.dropout(npu_ops.dropout(net, keep_prob=1 - (a)), keep_prob=1 - (npu_ops.dropout(b, .5)))
        """,  # noqa: E501
        RULE,
    )


def test_hidden_arguments_are_left_to_the_user() -> None:
    told = check_unchanged("import tensorflow as tf\nnet = tf.nn.dropout(net, **options)\n", RULE)
    assert outcomes(told) == [Outcome.BY_HAND]


def test_a_name_that_is_taken_is_left_to_the_user() -> None:
    told = check_unchanged(
        "import tensorflow as tf\nimport npu_ops\nnet = tf.nn.dropout(net, 0.8)\n", RULE
    )
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "npu_ops" in told[0].message


def test_noise_of_another_shape_stays() -> None:
    assert (
        check_unchanged("import tensorflow as tf\ntf.nn.dropout(x, .5, noise_shape=s)\n", RULE)
        == []
    )


def test_dropout_of_another_library_is_not_ours() -> None:
    assert check_unchanged("from mylib import tf\nnet = tf.nn.dropout(net, 0.8)\n", RULE) == []


def test_no_noise_shape_is_no_noise_shape() -> None:
    check_migrated(
        "import tensorflow as tf\nnet = tf.nn.dropout(net, .8, None, seed)\n",
        "import tensorflow as tf\nfrom npu_bridge.estimator import npu_ops\n"
        "net = npu_ops.dropout(net, .8, None, seed)\n",
        RULE,
    )


def test_both_ways_to_say_it_are_left_to_the_user() -> None:
    told = check_unchanged(
        "import tensorflow as tf\ntf.nn.dropout(x, keep_prob=None, rate=0.2)\n", RULE
    )
    assert outcomes(told) == [Outcome.BY_HAND]
