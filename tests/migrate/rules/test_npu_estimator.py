"""On request, Estimators and run configurations become the adapter's."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import (
    check_migrated,
    check_unchanged,
    findings,
    migrate,
    outcomes,
    text_after,
)
from trainferry.migrate.dispatch import chosen_rules
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "npu_estimator"
ALSO = Options(also=frozenset((RULE,)))
CONFIG = "from npu_bridge.estimator.npu.npu_config import NPURunConfig"
ESTIMATOR = "from npu_bridge.estimator.npu.npu_estimator import NPUEstimator"


def test_both_are_replaced_and_places_get_names() -> None:
    told = check_migrated(
        """\
        import tensorflow as tf
        config = tf.estimator.RunConfig('d', 7, save_checkpoints_steps=9)
        e = tf.estimator.Estimator(f, None, config, p, w)
        """,
        f"""\
        import tensorflow as tf
        {ESTIMATOR}
        {CONFIG}
        config = NPURunConfig(model_dir='d', tf_random_seed=7, save_checkpoints_steps=9)
        e = NPUEstimator(f, None, config, p, warm_start_from=w)
        """,
        RULE,
        ALSO,
    )
    assert outcomes(told) == [Outcome.CHECK, Outcome.CHANGED]
    assert "save_summary_steps" in told[0].message


def test_placement_and_strategies_are_left_out_and_told() -> None:
    told = check_migrated(
        """\
        import tensorflow as tf
        e = tf.estimator.Estimator(f, config=tf.estimator.RunConfig(
            train_distribute=s, protocol="grpc", save_summary_steps=5, save_checkpoints_secs=60))
        """,
        f"""\
        import tensorflow as tf
        {ESTIMATOR}
        {CONFIG}
        e = NPUEstimator(f, config=NPURunConfig(
            save_summary_steps=5, save_checkpoints_secs=60))
        """,
        RULE,
        ALSO,
    )
    assert sorted(one.outcome.name for one in told) == ["CHANGED", "CHANGED", "CHECK", "CHECK"]


def test_an_estimator_without_configuration_gets_one() -> None:
    check_migrated(
        "from tensorflow.compat.v1 import estimator\ne = estimator.Estimator(f)\n",
        f"""\
        from tensorflow.compat.v1 import estimator
        {CONFIG}
        {ESTIMATOR}
        e = NPUEstimator(f, config=NPURunConfig())
        """,
        RULE,
        ALSO,
    )


def test_an_argument_that_is_not_taken_is_named() -> None:
    told = check_unchanged(
        """\
        import tensorflow as tf
        c = tf.estimator.RunConfig(session_creation_timeout_secs=1)
        e = tf.estimator.Estimator(f, config=c)
        """,
        RULE,
        ALSO,
    )
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "session_creation_timeout_secs" in told[0].message


def test_an_estimator_that_was_kept_off_the_gpu_is_left_to_the_user() -> None:
    text = """\
        import tensorflow as tf
        s = tf.ConfigProto(device_count={"GPU": 0})
        e = tf.estimator.Estimator(f, config=tf.estimator.RunConfig(session_config=s))
        """
    (told,) = check_unchanged(text, RULE, ALSO)
    assert "kept it off the GPU" in told.message


@pytest.mark.parametrize("config", ["made(c)", "c", "config.replace(model_dir=1)"])
def test_what_cannot_be_replaced_is_wrapped_instead(config: str) -> None:
    text = (
        "import tensorflow as tf\ndef run(c, config):\n    config = config.replace(keep=1)\n"
        f"    return tf.estimator.Estimator(f, config={config})\n"
    )
    told = check_unchanged(text, RULE, ALSO)
    assert outcomes(told) == [Outcome.BY_HAND]
    wrapped = text_after(migrate({"program.py": text}, "estimator_on_npu", ALSO))
    assert f"npu_run_config_init(run_config={config})" in wrapped


def test_what_is_replaced_is_not_wrapped() -> None:
    text = (
        "import tensorflow as tf\ne = tf.estimator.Estimator(f, d, tf.estimator.RunConfig(), p)\n"
    )
    result = migrate({"program.py": text}, "*", ALSO)
    assert "e = NPUEstimator(f, d, NPURunConfig(), p)" in text_after(result)
    assert "npu_run_config_init" not in text_after(result)


def test_ready_made_estimators_are_wrapped() -> None:
    text = "import tensorflow as tf\ne = tf.estimator.LinearClassifier(c, config=r)\n"
    assert check_unchanged(text, RULE, ALSO) == []
    assert "npu_run_config_init" in text_after(migrate({"program.py": text}, "*", ALSO))


def test_the_configuration_of_another_estimator_stays() -> None:
    text = (
        "import tensorflow as tf\nc = tf.estimator.RunConfig()\n"
        "e = tf.estimator.LinearClassifier(x, config=c)\n"
    )
    assert check_unchanged(text, RULE, ALSO) == []


def test_what_is_left_to_the_user_is_told_once() -> None:
    text = "import tensorflow as tf\ndef run(c):\n    return tf.estimator.Estimator(f, config=c)\n"
    told = findings(migrate({"program.py": text}, "*", ALSO))
    assert [one.rule.name for one in told].count(RULE) == 1


def test_nobody_gets_it_unasked() -> None:
    assert RULE not in [rule.name for rule in chosen_rules(Options())]


def test_other_run_configs_are_not_ours() -> None:
    text = "from train_lib import RunConfig, Estimator\ne = Estimator(f, config=RunConfig())\n"
    assert findings(migrate({"program.py": text}, RULE, ALSO)) == []
