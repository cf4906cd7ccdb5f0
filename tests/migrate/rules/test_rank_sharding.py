"""Sharding by ranks is told apart from taking every n-th sample."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "rank_sharding"
HCCL = Options(distributed="hccl")
STRATEGY = Options(distributed="strategy")

PROGRAM = """\
import tensorflow as tf
import horovod.tensorflow as mgw
size, rank = mgw.size, 0
def read(files, context, config, ranks, index):
    mine = mgw.rank()
    dataset = tf.data.TFRecordDataset(files)
    return dataset.shard({arguments})
"""


@pytest.mark.parametrize(
    "arguments",
    ["FLAGS.num_workers, FLAGS.worker_index", "num_shards=ranks, index=index", "a, b"],
)
def test_numbers_that_may_be_ranks_are_told_in_distributed_projects(arguments: str) -> None:
    told = check_unchanged(PROGRAM.format(arguments=arguments), RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "`dataset.shard(get_rank_size(), get_rank_id())`" in told[0].message


@pytest.mark.parametrize(
    "arguments",
    [
        "config.sample_1_of_n_examples, 0",
        "10, index",
        "sample_every, offset",
        "mgw.size(), mgw.rank()",
        "wrapper.size(), wrapper.rank()",
        "ranks, mine",
    ],
)
def test_every_nth_sample_and_horovods_ranks_stay(arguments: str) -> None:
    assert check_unchanged(PROGRAM.format(arguments=arguments), RULE) == []


def test_the_context_of_a_strategy_tells_no_ranks_apart() -> None:
    arguments = "context.num_input_pipelines, context.input_pipeline_id"
    told = check_unchanged(PROGRAM.format(arguments=arguments), RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "takes no part: write `dataset.shard(get_rank_size(), get_rank_id())`" in told[0].message


def test_the_adapters_ranks_stay() -> None:
    text = """\
        import tensorflow as tf
        from npu_bridge.npu_init import *
        data = tf.data.TFRecordDataset(files).shard(get_rank_size(), get_rank_id())
        """
    assert check_unchanged(text, RULE, HCCL) == []


def test_a_project_for_one_device_hears_nothing() -> None:
    text = "import tensorflow as tf\ntf.data.TFRecordDataset(files).shard(workers, worker)\n"
    assert check_unchanged(text, RULE) == []
    assert outcomes(check_unchanged(text, RULE, STRATEGY)) == [Outcome.BY_HAND]


def test_sharding_of_other_things_is_not_ours() -> None:
    text = """\
        import tensorflow as tf
        import horovod.tensorflow as hvd
        tf.contrib.tpu.shard(fn, inputs, workers)
        cluster.shard(key, workers)
        """
    assert check_unchanged(text, RULE) == []


TRAINING = """\
from tensorflow import data, estimator
def train_input():
    files = data.Dataset.list_files(pattern)
    return files.interleave(lambda name: data.TFRecordDataset(name), 4){shard}
estimator.Estimator(model_fn).train(train_input)
"""


def test_a_project_that_becomes_parallel_is_told_where_to_shard() -> None:
    told = check_unchanged(TRAINING.format(shard=""), RULE, HCCL)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert check_unchanged(TRAINING.format(shard=""), RULE) == []


def test_a_project_that_shards_is_not_told_to() -> None:
    ranks = "(get_rank_size(), get_rank_id())"
    text = "from hccl.manage.api import *\n" + TRAINING.format(shard=f".shard{ranks}")
    assert [one for one in check_unchanged(text, RULE, HCCL) if "every rank" in one.message] == []


def test_every_nth_sample_is_no_sharding_of_ranks() -> None:
    told = check_unchanged(TRAINING.format(shard=".shard(sample_1_of_n, 0)"), RULE, HCCL)
    assert outcomes(told) == [Outcome.BY_HAND]
