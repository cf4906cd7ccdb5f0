"""Names of the adapter are taken from where they are."""

from __future__ import annotations

from tests.migrate.rules.migrated import check_migrated, check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "adapter_names"
STAR = "from npu_bridge.npu_init import *\n"


def test_names_that_tensorflow_does_not_have() -> None:
    check_migrated(
        """\
        import tensorflow as tf
        config = tf.estimator.NPURunConfig(model_dir=folder)
        estimator = tf.estimator.NPUEstimator(model_fn, config=config)
        """,
        """\
        import tensorflow as tf
        from npu_bridge.estimator.npu.npu_config import NPURunConfig
        from npu_bridge.estimator.npu.npu_estimator import NPUEstimator
        config = NPURunConfig(model_dir=folder)
        estimator = NPUEstimator(model_fn, config=config)
        """,
        RULE,
    )


def test_names_that_the_star_does_not_bring() -> None:
    check_migrated(
        f"{STAR}cell = DynamicRNN(256, tf.float32)\nwith disable_scope():\n    pass\n",
        f"{STAR}from npu_bridge.estimator.npu.npu_dynamic_rnn import DynamicRNN\n"
        "cell = DynamicRNN(256, tf.float32)\nwith npu_scope.disable_autofuse():\n    pass\n",
        RULE,
    )


def test_names_that_may_come_from_elsewhere_are_not_ours() -> None:
    assert check_unchanged(f"{STAR}from mine import *\ncell = DynamicRNN(tf.int8)\n", RULE) == []
    text = f"{STAR}from mine import DynamicRNN\ncell = DynamicRNN(tf.int8)\n"
    assert check_unchanged(text, RULE) == []


def test_a_name_that_was_imported_is_told() -> None:
    told = check_unchanged(
        "from tensorflow.estimator import NPURunConfig\nconfig = NPURunConfig()\n", RULE
    )
    assert outcomes(told) == [Outcome.BY_HAND]
