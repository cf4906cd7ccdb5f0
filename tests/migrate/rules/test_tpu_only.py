"""What only a TPU has is told, unless it is behind a switch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.migrate.rules.migrated import check_unchanged, findings, migrate, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.pipeline import migrate_project
from trainferry.migrate.report.groups import grouped
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


COPY = """\
class TPUEstimator(tf.estimator.Estimator):
    def train(self, fn, inputs):
        queue = tpu.InfeedQueue(3)
        return tpu.shard(fn, inputs)

def helper(fn):
    return tpu.rewrite(fn)
"""


def test_a_copy_of_the_machinery_is_told_with_one_sentence_at_every_place() -> None:
    told = check_unchanged(START + COPY, RULE)
    assert outcomes(told) == [Outcome.BY_HAND] * 3
    assert len({one.start for one in told}) == 3
    (message,) = {one.message for one in told}
    assert "use `tf.contrib.tpu.TPUEstimator`" in message


def test_reports_put_the_places_of_a_copy_together(tmp_path: Path) -> None:
    (tmp_path / "tpu_estimator.py").write_text(START + COPY)
    migration = migrate_project(tmp_path, Options(only=frozenset((RULE,))))
    (group,) = grouped(migration.told)
    assert [one.line for one in group.told] == [5, 6, 9]


def test_a_class_that_only_inherits_is_no_copy() -> None:
    text = "class TPUEstimator(tpu.TPUEstimator):\n    pass\n\nx = tpu.rewrite(fn)\n"
    (told,) = check_unchanged(START + text, RULE)
    assert told.message.startswith("call the function itself")


def test_the_copy_of_another_file_changes_nothing_here() -> None:
    files = {"tpu_estimator.py": START + COPY, "run.py": f"{START}x = tpu.rewrite(fn)\n"}
    first = findings(migrate(files, RULE))[0]
    assert (str(first.path), first.message[:24]) == ("run.py", "call the function itself")


def test_shard_of_another_library_is_not_ours() -> None:
    assert check_unchanged("from mylib import tpu\ntpu.shard(f)\n", RULE) == []
