"""A program that becomes data-parallel is told of its learning rate, once."""

from __future__ import annotations

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "learning_rate_for_ranks"
HCCL = Options(distributed="hccl")
OPTIMIZERS = (
    "import tensorflow as tf\na = tf.train.AdamOptimizer()\nb = tf.keras.optimizers.SGD()\n"
)


def test_the_first_optimizer_is_told() -> None:
    told = check_unchanged(OPTIMIZERS, RULE, HCCL)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "get_npu_rank_size()" in told[0].message


def test_a_program_that_counts_devices_knows() -> None:
    text = f"from hccl.manage.api import get_rank_size\nrate = get_rank_size()\n{OPTIMIZERS}"
    assert check_unchanged(text, RULE, HCCL) == []


def test_one_device_keeps_its_rate() -> None:
    assert check_unchanged(OPTIMIZERS, RULE) == []
    assert check_unchanged(f"import horovod.tensorflow as hvd\n{OPTIMIZERS}", RULE) == []


def test_a_strategy_has_run_on_several_devices_before() -> None:
    text = f"import tensorflow as tf\ns = tf.distribute.MirroredStrategy()\n{OPTIMIZERS}"
    assert check_unchanged(text, RULE) == []
