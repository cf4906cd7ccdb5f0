"""Strategies for several GPUs become the NPU's; others are told with their own way."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_migrated, check_unchanged, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "strategy_to_npu"


@pytest.mark.parametrize(
    ("imports", "text"),
    [
        ("import tensorflow as tf", "tf.distribute.MirroredStrategy()"),
        ("import tensorflow as tf", 'tf.distribute.MirroredStrategy(["/gpu:%d" % i for i in n])'),
        ("import tensorflow.compat.v1 as tf", "tf.distribute.MirroredStrategy(devices=d)"),
        ("import tensorflow as foo", "foo.contrib.distribute.MirroredStrategy(num_gpus=2)"),
        ("import tensorflow as tf",
         "tf.distribute.experimental.MultiWorkerMirroredStrategy(communication=c)"),
        ("from tensorflow.contrib.distribute import CollectiveAllReduceStrategy as S", "S(2)"),
        ("import tensorflow.compat.v2 as tf", "tf.distribute.MirroredStrategy(devices=devices)"),
    ],
)  # fmt: skip
def test_strategies_for_several_devices_become_one(imports: str, text: str) -> None:
    told = check_migrated(
        f"{imports}\nstrategy = {text}\n",
        f"{imports}\nfrom npu_bridge.estimator.npu import npu_strategy\n"
        "strategy = npu_strategy.NPUStrategy()\n",
        RULE,
    )
    assert outcomes(told) == [Outcome.CHECK]


def test_a_function_that_chooses_keeps_its_name() -> None:
    told = check_migrated(
        """\
        import tensorflow as tf

        def get_distribution_strategy(num_gpus):
            if num_gpus == 1:
                return tf.contrib.distribute.OneDeviceStrategy("device:GPU:0")
            return tf.distribute.MirroredStrategy(num_gpus)

        strategy = get_distribution_strategy(2)
        """,
        """\
        import tensorflow as tf
        from npu_bridge.estimator.npu import npu_strategy

        def get_distribution_strategy(num_gpus):
            if num_gpus == 1:
                return tf.contrib.distribute.OneDeviceStrategy("device:GPU:0")
            return npu_strategy.NPUStrategy()

        strategy = get_distribution_strategy(2)
        """,
        RULE,
    )
    assert outcomes(told) == [Outcome.BY_HAND, Outcome.CHECK]


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("distribute.OneDeviceStrategy('/gpu:0')", "one device"),
        ("distribute.experimental.CentralStorageStrategy()", "host"),
        ("distribute.experimental.TPUStrategy(r)", "TPU"),
        ("distribute.experimental.ParameterServerStrategy()", "NPURunConfig"),
        ("distribute.MirroredStrategy(*devices)", "NPUStrategy"),
        ("distribute.MirroredStrategy", "NPUStrategy"),
    ],
)
def test_other_strategies_are_told(name: str, word: str) -> None:
    told = check_unchanged(f"import tensorflow as tf\nx = tf.{name}\n", RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert word in told[0].message


def test_strategies_can_be_left_alone() -> None:
    text = "import tensorflow as tf\nx = tf.distribute.MirroredStrategy()\n"
    told = check_unchanged(text, RULE, Options(distributed="horovod"))
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "left" in told[0].message


def test_a_strategy_of_another_library_is_not_ours() -> None:
    text = "from game import MirroredStrategy\nx = MirroredStrategy()\n"
    assert check_unchanged(text, RULE) == []
