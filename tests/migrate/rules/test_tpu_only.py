"""What only a TPU has is told, unless it is behind a switch."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "tpu_only"
START = "import tensorflow as tf\nfrom tensorflow.contrib import tpu\n"


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        ("tf.contrib.tpu.CrossShardOptimizer(opt)", "npu_distributed_optimizer_wrapper"),
        ("tf.compat.v1.tpu.CrossShardOptimizer(opt)", "npu_distributed_optimizer_wrapper"),
        ("tpu.shard(fn, inputs, num_shards=8)", "call the function itself"),
        ("tpu.rewrite(fn)", "call the function itself"),
        ("tpu.infeed_dequeue(tf.float32)", "tf.data"),
        ("tf.contrib.cluster_resolver.TPUClusterResolver(x)", "leave it out"),
        ("tf.tpu.experimental.embedding_column(x)", "remove"),
    ],
)
def test_advice_names_what_to_write(call: str, advice: str) -> None:
    told = check_unchanged(f"{START}x = {call}\n", RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert advice in told[0].message


@pytest.mark.parametrize(
    "text",
    [
        "if FLAGS.use_tpu:\n    opt = tpu.CrossShardOptimizer(opt)",
        "opt = tpu.CrossShardOptimizer(opt) if use_tpu else opt",
        "tpu.TPUEstimatorSpec(mode, host_call=h)",
        "tpu.RunConfig(tpu_config=tpu.TPUConfig(iterations_per_loop=2))",
        "cluster.shard(key)",
    ],
)
def test_what_can_stay_is_not_told(text: str) -> None:
    assert check_unchanged(f"{START}{text}\n", RULE) == []


def test_the_other_branch_of_a_switch_is_told() -> None:
    text = "if not use_tpu:\n    opt = tpu.CrossShardOptimizer(opt)\n"
    assert outcomes(check_unchanged(START + text, RULE)) == [Outcome.BY_HAND]


def test_shard_of_another_library_is_not_ours() -> None:
    assert check_unchanged("from mylib import tpu\ntpu.shard(f)\n", RULE) == []
