"""Loss scale becomes the NPU's, with TensorFlow's numbers."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_migrated, check_unchanged, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "loss_scale_on_npu"
MANAGERS = "from npu_bridge.estimator.npu.npu_loss_scale_manager import "
OPTIMIZER = "from npu_bridge.estimator.npu.npu_loss_scale_optimizer import NPULossScaleOptimizer"
EXPRESSION = 'int(os.getenv("RANK_SIZE") or os.getenv("CM_WORKER_SIZE") or 1) > 1'


def test_contrib_classes_keep_their_arguments() -> None:
    told = check_migrated(
        """\
        import tensorflow as tf
        mp = tf.contrib.mixed_precision
        if scale == 0:
            manager = mp.ExponentialUpdateLossScaleManager(2**32, 1000, decr_ratio=0.5)
        else:
            manager = mp.FixedLossScaleManager(scale)
        opt = tf.contrib.mixed_precision.LossScaleOptimizer(opt, manager)
        """,
        f"""\
        import tensorflow as tf
        {MANAGERS}ExponentialUpdateLossScaleManager
        {MANAGERS}FixedLossScaleManager
        {OPTIMIZER}
        mp = tf.contrib.mixed_precision
        if scale == 0:
            manager = ExponentialUpdateLossScaleManager(2**32, 1000, decr_ratio=0.5)
        else:
            manager = FixedLossScaleManager(scale)
        opt = NPULossScaleOptimizer(opt, manager)
        """,
        RULE,
    )
    assert outcomes(told) == [Outcome.CHANGED] * 3


def test_scales_of_tensorflow_keep_their_numbers() -> None:
    told = check_migrated(
        """\
        import tensorflow.compat.v1 as tf
        from tensorflow.train.experimental import FixedLossScale as Fixed
        if fixed:
            scale = Fixed(loss_scale_value=128)
        else:
            scale = tf.train.experimental.DynamicLossScale(increment_period=500, multiplier=4)
        opt = tf.train.experimental.MixedPrecisionLossScaleOptimizer(opt, scale)
        """,
        f"""\
        import tensorflow.compat.v1 as tf
        {MANAGERS}ExponentialUpdateLossScaleManager
        {MANAGERS}FixedLossScaleManager
        {OPTIMIZER}
        from tensorflow.train.experimental import FixedLossScale as Fixed
        if fixed:
            scale = FixedLossScaleManager(loss_scale=128)
        else:
            scale = ExponentialUpdateLossScaleManager(incr_every_n_steps=500, incr_ratio=4, init_loss_scale=2**15, decr_every_n_nan_or_inf=1, decr_ratio=0.25)
        opt = NPULossScaleOptimizer(opt, scale)
        """,  # noqa: E501
        RULE,
    )
    assert outcomes(told) == [Outcome.CHECK, Outcome.CHANGED, Outcome.CHANGED]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "DynamicLossScale()",
            "init_loss_scale=2**15, incr_every_n_steps=2000,"
            " decr_every_n_nan_or_inf=1, decr_ratio=0.5",
        ),
        (
            "DynamicLossScale(8, 9, m)",
            "8, 9, incr_ratio=m, decr_every_n_nan_or_inf=1, decr_ratio=1.0 / m",
        ),
        (
            "DynamicLossScale(8, multiplier=2.)",
            "8, incr_ratio=2., incr_every_n_steps=2000, decr_every_n_nan_or_inf=1, decr_ratio=0.5",
        ),
    ],
)
def test_dynamic_scales_in_all_spellings(before: str, after: str) -> None:
    check_migrated(
        f"""\
        import tensorflow as tf
        ex = tf.train.experimental
        opt = ex.MixedPrecisionLossScaleOptimizer(opt, ex.{before})
        """,
        f"""\
        import tensorflow as tf
        {MANAGERS}ExponentialUpdateLossScaleManager
        {OPTIMIZER}
        ex = tf.train.experimental
        opt = NPULossScaleOptimizer(opt, ExponentialUpdateLossScaleManager({after}))
        """,
        RULE,
    )


def test_numbers_and_words_become_managers() -> None:
    check_migrated(
        """\
        import tensorflow as tf
        one = tf.train.experimental.MixedPrecisionLossScaleOptimizer(a, 128)
        two = tf.train.experimental.MixedPrecisionLossScaleOptimizer(b, loss_scale="dynamic")
        """,
        f"""\
        import tensorflow as tf
        {MANAGERS}ExponentialUpdateLossScaleManager
        {MANAGERS}FixedLossScaleManager
        {OPTIMIZER}
        one = NPULossScaleOptimizer(a, FixedLossScaleManager(loss_scale=128))
        two = NPULossScaleOptimizer(b, loss_scale_manager=ExponentialUpdateLossScaleManager(init_loss_scale=2**15, incr_every_n_steps=2000, decr_every_n_nan_or_inf=1, incr_ratio=2, decr_ratio=0.5))
        """,  # noqa: E501
        RULE,
    )


def test_the_graph_rewrite_leaves_its_loss_scale_behind() -> None:
    told = check_migrated(
        """\
        import tensorflow as tf
        opt = tf.train.experimental.enable_mixed_precision_graph_rewrite(opt)
        """,
        f"""\
        import tensorflow as tf
        {MANAGERS}ExponentialUpdateLossScaleManager
        {OPTIMIZER}
        opt = NPULossScaleOptimizer(opt, loss_scale_manager=ExponentialUpdateLossScaleManager(init_loss_scale=2**15, incr_every_n_steps=2000, decr_every_n_nan_or_inf=1, incr_ratio=2, decr_ratio=0.5))
        """,  # noqa: E501
        RULE,
    )
    assert outcomes(told) == [Outcome.CHECK]
    assert "precision_mode" in told[0].message


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (Options(), "import horovod.tensorflow as hvd\nhvd.init()"),
        (Options(), "strategy = tf.distribute.MirroredStrategy()"),
        (Options(distributed="hccl"), "pass"),
    ],
)
def test_several_devices_decide_together(options: Options, line: str) -> None:
    call = "LossScaleOptimizer(opt, manager"
    told = check_migrated(
        f"import tensorflow as tf\n{line}\nopt = tf.contrib.mixed_precision.{call})\n",
        f"import tensorflow as tf\nimport os\n{OPTIMIZER}\n{line}\n"
        f"opt = NPU{call}, is_distributed={EXPRESSION})\n",
        RULE,
        options,
    )
    assert outcomes(told) == [Outcome.CHANGED]


def test_one_device_alone_does_not_ask_others() -> None:
    text = "import tensorflow as tf\nimport horovod.tensorflow as hvd\n{}(opt, manager)\n"
    check_migrated(
        text.format("hvd.init()\ntf.contrib.mixed_precision.LossScaleOptimizer"),
        text.replace("tf\nimport", f"tf\n{OPTIMIZER}\nimport").format(
            "hvd.init()\nNPULossScaleOptimizer"
        ),
        RULE,
        Options(distributed="none"),
    )


@pytest.mark.parametrize(
    "manager",
    [
        "tf.contrib.mixed_precision.ExponentialUpdateLossScaleManager(2**32, 1000)",
        "tf.train.experimental.MixedPrecisionLossScaleOptimizer(opt, 'dynamic')",
        "npu_loss_scale_manager.ExponentialUpdateLossScaleManager(2**32, 1000)",
    ],
)
def test_managers_among_dependencies_are_left_to_the_user(manager: str) -> None:
    told = check_unchanged(
        "import tensorflow as tf\n"
        "from npu_bridge.estimator.npu import npu_loss_scale_manager\n"
        f"with tf.control_dependencies(updates):\n    x = {manager}\n",
        RULE,
    )
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "before `with tf.control_dependencies" in told[0].message


def test_a_scale_inside_takes_its_optimizer_along() -> None:
    told = check_unchanged(
        """\
        import tensorflow as tf
        ex = tf.train.experimental
        with tf.control_dependencies(updates):
            scale = ex.DynamicLossScale()
            opt = ex.MixedPrecisionLossScaleOptimizer(opt, scale)
        """,
        RULE,
    )
    assert outcomes(told) == [Outcome.BY_HAND, Outcome.BY_HAND]


@pytest.mark.parametrize(
    "text",
    [
        "x = tf.train.experimental.MixedPrecisionLossScaleOptimizer(opt, FLAGS.loss_scale)",
        "x = tf.train.experimental.MixedPrecisionLossScaleOptimizer(*arguments)",
        "x = tf.train.experimental.DynamicLossScale()\nkeep(x)",
        "x = tf.keras.mixed_precision.experimental.LossScaleOptimizer(opt, "
        "tf.train.experimental.FixedLossScale(8))",
        "opt = tf.keras.optimizers.Adam()\n"
        "x = tf.train.experimental.enable_mixed_precision_graph_rewrite(opt)",
        "class Mine(tf.contrib.mixed_precision.LossScaleOptimizer): pass",
    ],
)
def test_what_is_not_certain_is_left_to_the_user(text: str) -> None:
    told = check_unchanged(f"import tensorflow as tf\n{text}\n", RULE)
    assert outcomes(told) == [Outcome.BY_HAND]


def test_managers_of_the_npu_stay() -> None:
    assert (
        check_unchanged(
            """\
            from npu_bridge.npu_init import *
            manager = FixedLossScaleManager(loss_scale=128)
            opt = NPULossScaleOptimizer(opt, manager)
            """,
            RULE,
        )
        == []
    )


def test_a_contrib_manager_of_an_npu_optimizer_is_replaced() -> None:
    check_migrated(
        """\
        import tensorflow as tf
        from npu_bridge.npu_init import *
        manager = tf.contrib.mixed_precision.ExponentialUpdateLossScaleManager(2**32, 1000)
        opt = NPULossScaleOptimizer(opt, manager)
        """,
        """\
        import tensorflow as tf
        from npu_bridge.npu_init import *
        manager = ExponentialUpdateLossScaleManager(2**32, 1000)
        opt = NPULossScaleOptimizer(opt, manager)
        """,
        RULE,
    )


def test_classes_of_another_library_are_not_ours() -> None:
    text = "from apex import tf\nopt = tf.contrib.mixed_precision.LossScaleOptimizer(opt, m)\n"
    assert check_unchanged(text, RULE) == []
