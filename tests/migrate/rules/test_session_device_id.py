"""Several GPUs in one process become several NPUs by hand."""

from __future__ import annotations

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "session_device_id"


def test_different_gpus_are_told() -> None:
    text = """\
        import tensorflow.compat.v1 as tf
        a, b = tf.ConfigProto(), tf.ConfigProto(gpu_options=tf.GPUOptions(visible_device_list="1"))
        a.gpu_options.visible_device_list = "0"
        """
    told = check_unchanged(text, RULE)
    assert outcomes(told) == [Outcome.BY_HAND, Outcome.BY_HAND]
    assert "here 1" in told[0].message


def test_a_loop_over_gpus_is_told() -> None:
    text = """\
        import tensorflow as tf
        for i in range(4):
            config = tf.ConfigProto()
            config.gpu_options.visible_device_list = str(i)
            sessions.append(tf.Session(config=config))
        """
    assert outcomes(check_unchanged(text, RULE)) == [Outcome.BY_HAND]


def test_one_gpu_is_not_told() -> None:
    text = """\
        import tensorflow as tf
        config.gpu_options.visible_device_list = "0"
        other.gpu_options.visible_device_list = "0,1"
        mine.visible_device_list = "1"
        """
    assert check_unchanged(text, RULE) == []
