"""Towers are told, once per loop, with what to write."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, migrate, outcomes, text_after
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Concern, Outcome

RULE = "tower_loop"
LOOP = """\
import tensorflow as tf
def average_gradients(grads):
    return grads
def train():
    for i in {over}:
        with tf.device({device}):
            loss()
        with tf.device('/cpu:0'):
            more()
"""


@pytest.mark.parametrize(
    ("over", "device"),
    [
        ("range(FLAGS.num_gpus)", "'/gpu:%d' % i"),
        ("range(n)", "'/gpu:{:d}'.format(i)"),
        ("gpus", "i"),
        ("xrange(num_clones)", "clone_device(i)"),
        ("range(FLAGS.cores)", "assign_to_gpu(i, '/cpu:0')"),
        ("range(FLAGS.cores)", "tf.DeviceSpec(device_type='GPU', device_index=i)"),
    ],
)
def test_a_loop_over_gpus_is_told_once(over: str, device: str) -> None:
    told = check_unchanged(LOOP.format(over=over, device=device), RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "npu_distributed_optimizer_wrapper" in told[0].message
    assert "`average_gradients`" in told[0].message


def test_the_loop_is_still_told_when_its_devices_are_changed() -> None:
    text = LOOP.format(over="range(num_gpus)", device="'/gpu:%d' % i")
    again = text_after(migrate({"program.py": text}, "device_placement"))
    assert "gpu:" not in again
    assert outcomes(check_unchanged(again, RULE)) == [Outcome.BY_HAND]


def test_a_loop_that_would_not_run_at_all_comes_first() -> None:
    text = "from tensorflow.python.client import device_lib\n" + LOOP.format(
        over="range(len(gpus(device_lib.list_local_devices())))", device="'/gpu:%d' % i"
    )
    (told,) = check_unchanged(text, RULE)
    assert told.finding.concern is Concern.RUN


@pytest.mark.parametrize(
    "text",
    [
        "from tensorflow.keras.utils import multi_gpu_model as m\nx = m(model, gpus=4)\n",
        "from tensorflow.python.keras.utils import multi_gpu_model as m\nx = m(model, gpus=4)\n",
        "import keras\nx = keras.utils.multi_gpu_model(model, 4)\n",
        "import tensorflow as tf\nf = tf.contrib.estimator.replicate_model_fn(model_fn)\n",
        "import tensorflow as tf\nc = model_deploy.DeploymentConfig(num_clones=FLAGS.num_clones)\n",
        "from absl import flags\nflags.DEFINE_integer(name='num_gpus', default=1, help='')\n",
        "import tensorflow as tf\ntf.app.flags.DEFINE_integer('gpu_num', 1, '')\n",
    ],
)
def test_other_ways_to_use_several_gpus_are_told(text: str) -> None:
    assert outcomes(check_unchanged(text, RULE)) == [Outcome.BY_HAND]


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\nfor i in range(3):\n    with tf.device('/cpu:0'):\n        f()\n",
        "import tensorflow as tf\nfor gpu in gpus:\n    print(gpu)\n",
        "import tensorflow as tf\nc = model_deploy.DeploymentConfig(num_clones=1)\n",
        "from absl import flags\nflags.DEFINE_integer('gpu', 0, 'which one')\n",
        "from mylib import multi_gpu_model\nmulti_gpu_model(m, 2)\n",
    ],
)
def test_the_rest_is_silent(text: str) -> None:
    assert check_unchanged(text, RULE) == []


def test_flags_are_silent_for_one_device() -> None:
    text = "from absl import flags\nflags.DEFINE_integer('num_gpus', 1, '')\n"
    assert check_unchanged(text, RULE, Options(distributed="none")) == []
