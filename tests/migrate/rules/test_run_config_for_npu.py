"""A run configuration stays; what means something else on NPUs is told."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_migrated, check_unchanged, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "run_config_for_npu"
PARALLEL = Options(distributed="hccl")
TF = "import tensorflow as tf\n"


@pytest.mark.parametrize(
    "text",
    [
        f"{TF}c = tf.estimator.RunConfig(save_checkpoints_secs=60)\n",
        f"{TF}c = tf.contrib.tpu.RunConfig()\n",
        "from tensorflow.estimator import RunConfig as R\nc = R('d', 1, 2, None, 60)\n",
    ],
)
def test_saving_by_time_is_told_for_several_devices_only(text: str) -> None:
    assert check_unchanged(text, RULE) == []
    told = check_unchanged(text, RULE, PARALLEL)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "save_checkpoints_steps" in told[0].message


@pytest.mark.parametrize(
    "call",
    [
        "tf.estimator.RunConfig(save_checkpoints_steps=5)",
        "tf.estimator.RunConfig(save_checkpoints_secs=None, save_checkpoints_steps=5)",
        "tf.estimator.RunConfig().replace(save_checkpoints_steps=5)",
        "tf.estimator.RunConfig(**options)",
        "mine.RunConfig(save_checkpoints_secs=5)",
    ],
)
def test_the_rest_is_silent(call: str) -> None:
    assert check_unchanged(f"{TF}import mine\nc = {call}\n", RULE, PARALLEL) == []


def test_placement_is_told() -> None:
    told = check_unchanged(f"{TF}tf.estimator.RunConfig(device_fn=d, protocol='grpc')\n", RULE)
    assert outcomes(told) == [Outcome.BY_HAND, Outcome.BY_HAND]


def test_no_placement_is_nothing_to_tell() -> None:
    text = f"{TF}tf.estimator.RunConfig(device_fn=None, protocol=None)\n"
    assert check_unchanged(text, RULE) == []


def test_ranks_that_do_not_save_say_so() -> None:
    told = check_migrated(
        """\
        from npu_bridge.npu_init import *
        c = NPURunConfig(save_checkpoints_steps=9 if rank == 0 else None)
        """,
        """\
        from npu_bridge.npu_init import *
        c = NPURunConfig(save_checkpoints_steps=9 if rank == 0 else 0)
        """,
        RULE,
    )
    assert outcomes(told) == [Outcome.CHECK]


def test_saving_by_time_beside_it_is_left() -> None:
    text = """\
        from npu_bridge.estimator.npu.npu_config import NPURunConfig
        c = NPURunConfig(save_checkpoints_steps=9 if a else None, save_checkpoints_secs=60)
        """
    assert check_unchanged(text, RULE) == []
