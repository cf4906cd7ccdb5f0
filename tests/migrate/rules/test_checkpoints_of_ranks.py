"""Processes that would write the same checkpoints are told, once."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, findings, migrate, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "checkpoints_of_ranks"
HCCL = Options(distributed="hccl")
STRATEGY = "import tensorflow as tf\ns = tf.distribute.MirroredStrategy()\n"
CONFIG = "c = tf.estimator.RunConfig(model_dir='run')\n"


def test_the_folder_of_a_run_configuration_is_told_once() -> None:
    text = STRATEGY + CONFIG + "e = tf.estimator.Estimator(f, 'run', c)\n"
    told = check_unchanged(text, RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert text[told[0].start :].startswith("tf.estimator.RunConfig")
    assert "os.path.join(folder, str(get_npu_rank_id()))" in told[0].message


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow.compat.v1 as tf\ntf.train.Saver().save(sess, path)\n",
        "from tensorflow.train import MonitoredTrainingSession as M\nM('', True, folder)\n",
        "import tensorflow.contrib.slim as slim\nslim.learning.train(op, folder)\n",
        "from tensorflow.keras.callbacks import ModelCheckpoint\nModelCheckpoint(path)\n",
    ],
)
def test_every_way_to_write_checkpoints(text: str) -> None:
    assert outcomes(check_unchanged(text, RULE, HCCL)) == [Outcome.BY_HAND]


def test_the_place_is_one_of_a_program_that_trains() -> None:
    save = "tf.train.Saver().save(sess, path)\n"
    files = {
        "convert.py": "import tensorflow as tf\n" + save,
        "model.py": "step = opt.minimize(loss)\n",
        "train.py": "import model\nimport tensorflow as tf\n" + save,
    }
    told = findings(migrate(files, RULE, HCCL))
    assert [str(one.path) for one in told] == ["train.py"]


@pytest.mark.parametrize(
    "rank",
    [
        "from npu_bridge.npu_init import *\nfirst = get_npu_rank_id() == 0\n",
        "import os\nrank = os.environ['RANK_ID']\n",
    ],
)
def test_a_program_that_asks_for_its_rank_knows(rank: str) -> None:
    assert check_unchanged(rank + STRATEGY + CONFIG, RULE) == []


def test_a_rank_for_the_data_alone_does_not_part_the_folders() -> None:
    shard = (
        "from npu_bridge.npu_init import get_npu_rank_id, get_npu_rank_size\n"
        "d = tf.data.Dataset.range(9).shard(get_npu_rank_size(), get_npu_rank_id())\n"
    )
    assert len(check_unchanged(STRATEGY + shard + CONFIG, RULE)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\n" + CONFIG,
        "import horovod.tensorflow as hvd\n" + STRATEGY + CONFIG,
        STRATEGY + "c = tf.estimator.RunConfig(model_dir=None)\n",
        STRATEGY + "from own import RunConfig\nc = RunConfig(model_dir='run')\n",
    ],
)
def test_not_ours(text: str) -> None:
    assert check_unchanged(text, RULE) == []
