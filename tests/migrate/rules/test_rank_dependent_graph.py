"""Only what one rank builds into the graph is told, not what it writes."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "rank_dependent_graph"
HEAD = "import tensorflow as tf\nimport horovod.tensorflow as hvd\nfrom hccl.manage.api import *\n"


@pytest.mark.parametrize(
    "text",
    [
        "if hvd.rank() == 0:\n    tf.summary.scalar('loss', loss)\n",
        "if not hvd.local_rank():\n    x = tf.nn.relu(x)\n",
        "chief = hvd.rank() == 0\nif chief and verbose:\n    tf.compat.v1.summary.merge_all()\n",
        "s = tf.summary.merge_all() if hvd.rank() == 0 else tf.no_op()\n",
    ],
)
def test_what_one_rank_builds_is_told(text: str) -> None:
    told = check_unchanged(f"{HEAD}{text}", RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "hangs" in told[0].message


def test_the_adapters_ranks_count_too() -> None:
    text = "import tensorflow as tf\nfrom npu_bridge.npu_init import *\n"
    text += "if get_npu_rank_id() == 0:\n    tf.summary.image('x', x)\n"
    assert outcomes(check_unchanged(text, RULE)) == [Outcome.BY_HAND]


@pytest.mark.parametrize(
    "text",
    [
        "if hvd.rank() == 0:\n    saver.save(sess, path)\n    tf.logging.info('saved')\n",
        "if hvd.rank() == 0:\n    writer = tf.summary.FileWriter(d)\n    s = tf.train.Saver()\n",
        "d = FLAGS.dir if hvd.rank() == 0 else None\n",
        "if hvd.size() > 1:\n    x = tf.nn.relu(x)\n",
        "if x:\n    tf.summary.scalar('rank', hvd.rank())\n",
    ],
)
def test_what_one_rank_writes_is_fine(text: str) -> None:
    assert check_unchanged(f"{HEAD}{text}", RULE) == []


def test_nothing_is_told_when_all_that_is_distributed_is_left() -> None:
    text = f"{HEAD}if hvd.rank() == 0:\n    tf.summary.scalar('loss', loss)\n"
    assert check_unchanged(text, RULE, Options(distributed="none")) == []
