"""A TPUEstimator runs without a TPU, and the user's flag is not thrown away."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_migrated, check_unchanged, outcomes
from trainferry.migrate.rule import Concern, Outcome

RULE = "tpu_estimator"


def test_the_tpu_is_turned_off() -> None:
    told = check_migrated(
        """\
        import tensorflow as tf
        e = tf.contrib.tpu.TPUEstimator(model_fn=f, config=c, use_tpu=True, train_batch_size=8)
        """,
        """\
        import tensorflow as tf
        from npu_bridge.npu_init import npu_run_config_init
        e = tf.contrib.tpu.TPUEstimator(model_fn=f, config=npu_run_config_init(run_config=c), use_tpu=False, train_batch_size=8, eval_on_tpu=False, export_to_tpu=False)
        """,  # noqa: E501
        RULE,
    )
    assert outcomes(told) == [Outcome.CHANGED]


@pytest.mark.parametrize(
    "imported",
    [
        "from tensorflow.estimator.tpu import TPUEstimator as T",
        "from tensorflow.contrib.tpu.python.tpu.tpu_estimator import TPUEstimator as T",
    ],
)
def test_a_flag_is_kept_and_told(imported: str) -> None:
    told = check_migrated(
        f"""\
        {imported}
        e = T(f, d, c, p, FLAGS.use_tpu)
        """,
        f"""\
        {imported}
        from npu_bridge.npu_init import npu_run_config_init
        e = T(f, d, npu_run_config_init(run_config=c), p, FLAGS.use_tpu, eval_on_tpu=False, export_to_tpu=False)
        """,  # noqa: E501
        RULE,
    )
    assert outcomes(told) == [Outcome.CHANGED, Outcome.BY_HAND]
    assert "`FLAGS.use_tpu` must be false" in told[1].message


def test_hidden_arguments_are_left_to_the_user() -> None:
    told = check_unchanged("import tensorflow as tf\ntf.contrib.tpu.TPUEstimator(**o)\n", RULE)
    assert outcomes(told) == [Outcome.BY_HAND]


def test_one_of_another_library_is_not_ours() -> None:
    assert (
        check_unchanged("from mylib import TPUEstimator\nTPUEstimator(f, config=c)\n", RULE) == []
    )


def test_a_flag_that_is_off_by_default_is_worth_knowing_only() -> None:
    call = "tf.contrib.tpu.TPUEstimator(f, use_tpu=FLAGS.use_tpu, eval_on_tpu=False, "
    flag = "tf.flags.DEFINE_bool('use_tpu', {}, 'help')\n"
    text = f"import tensorflow as tf\n{flag}x = {call}export_to_tpu=False)\n"
    (off,) = check_unchanged(text.format(False), RULE)
    (on,) = check_unchanged(text.format(True), RULE)
    assert (off.finding.concern, on.finding.concern) == (Concern.TIDY, None)


HOST = "session_config=tf.ConfigProto(device_count={'GPU': 0})"


def test_one_that_was_kept_off_the_gpu_stays_on_the_host() -> None:
    told = check_migrated(
        f"""\
        import tensorflow as tf
        c = tf.contrib.tpu.RunConfig({HOST})
        e = tf.contrib.tpu.TPUEstimator(f, config=c, use_tpu=True)
        """,
        f"""\
        import tensorflow as tf
        c = tf.contrib.tpu.RunConfig({HOST})
        e = tf.contrib.tpu.TPUEstimator(f, config=c, use_tpu=False, eval_on_tpu=False, export_to_tpu=False)
        """,  # noqa: E501
        RULE,
    )
    assert outcomes(told) == [Outcome.CHANGED, Outcome.BY_HAND]
    assert told[0].message == "an ordinary Estimator, without a TPU"
    assert "stays on the host" in told[1].message
