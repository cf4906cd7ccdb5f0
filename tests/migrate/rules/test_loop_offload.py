"""Several steps run on the device per call, where nothing speaks against it."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_migrated, check_unchanged, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome, all_rules

RULE = "loop_offload"
STAR = "from npu_bridge.npu_init import *\n"
TRAIN = "NPUEstimator(model_fn, config=c).train(input_fn)\n"


def test_a_run_config_gets_the_argument() -> None:
    told = check_migrated(
        f"{STAR}c = NPURunConfig(model_dir=folder, save_checkpoints_steps=500)\n{TRAIN}",
        f"{STAR}c = NPURunConfig(model_dir=folder, save_checkpoints_steps=500, "
        f"iterations_per_loop=10)\n{TRAIN}",
        RULE,
    )
    assert outcomes(told) == [Outcome.CHECK]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("save_checkpoints_steps=115", "is a multiple of 10"),
        ("save_checkpoints_steps=steps", "is a multiple of 10"),
        ("mix_compile_mode=True", "`mix_compile_mode`"),
        ("enable_data_pre_proc=False", "`enable_data_pre_proc=True`"),
        ("**options", "all arguments are known"),
    ],
)
def test_what_speaks_against_it_is_told(arguments: str, words: str) -> None:
    (told,) = check_unchanged(f"{STAR}c = NPURunConfig({arguments})\n{TRAIN}", RULE)
    assert words in told.message


def test_a_configuration_for_another_use_is_told() -> None:
    (told,) = check_unchanged(f"{STAR}c = NPURunConfig()\nuse(c).predict(input_fn)\n", RULE)
    assert "if it is for training" in told.message


def test_a_number_that_is_set_stays() -> None:
    assert check_unchanged(f"{STAR}c = NPURunConfig(iterations_per_loop=1)\n", RULE) == []


def test_other_estimators_hear_what_to_write() -> None:
    text = "import tensorflow as tf\ne = tf.estimator.Estimator(model_fn)\n"
    (told,) = check_unchanged(text, RULE)
    assert "SetIterationsVarHook(10)" in told.message
    assert check_unchanged(text, RULE, Options(also=frozenset({"npu_estimator"}))) == []


def test_loops_hear_what_to_write() -> None:
    text = """\
        import tensorflow as tf
        train_op = opt.minimize(loss)
        for step in range(1000):
            _, value = sess.run([train_op, loss])
        """
    (told,) = check_unchanged(text, RULE)
    assert "`train_op = util.set_iteration_per_loop(sess, train_op, 10)`" in told.message


def test_loops_that_feed_are_not_ours() -> None:
    text = """\
        import tensorflow as tf
        train_op = opt.minimize(loss)
        for step in range(1000):
            sess.run(train_op, feed_dict={x: batch()})
        sess.run(train_op)
        """
    assert check_unchanged(text, RULE) == []


def test_keras_hears_what_to_write() -> None:
    text = "import tensorflow as tf\nmodel = tf.keras.Sequential(layers)\nmodel.fit(x, y)\n"
    (told,) = check_unchanged(text, RULE)
    assert "model_to_npu_estimator(keras_model=model" in told.message


def test_only_for_those_who_ask() -> None:
    (rule,) = [one for one in all_rules() if one.name == RULE]
    assert rule.is_opt_in
