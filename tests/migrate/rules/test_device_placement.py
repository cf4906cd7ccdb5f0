"""GPUs leave device scopes; all other placement stays."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import (
    check_migrated,
    check_unchanged,
    migrate,
    outcomes,
    text_after,
)
from trainferry.migrate.rule import Outcome

RULE = "device_placement"
TF = "import tensorflow as tf\n"


def after(text: str) -> str:
    return text_after(migrate({"program.py": text}, RULE))


def test_a_gpu_becomes_the_cpu() -> None:
    told = check_migrated(
        "import tensorflow as tf\nwith tf.name_scope('x'), tf.device('/gpu:0'):  # g\n    f()\n",
        "import tensorflow as tf\nwith tf.name_scope('x'), tf.device('/cpu:0'):  # g\n    f()\n",
        RULE,
    )
    assert outcomes(told) == [Outcome.CHANGED]


@pytest.mark.parametrize(
    "device",
    [
        '"/device:GPU:1"',
        '"/gpu:%d" % i',
        '"/device:GPU:%d" % (i,)',
        '"gpu:{}".format(i + 1)',
        'f"/gpu:{self.gpus[i]}"',
        '"/gpu:" + str(i)',
    ],
)
def test_every_way_to_name_a_gpu(device: str) -> None:
    text = "import tensorflow.compat.v1 as t\nwith t.device({}):\n    f()\n"
    assert after(text.format(device)) == text.format('"/cpu:0"')


def test_the_bare_word_stays_a_word_because_it_is_often_printed_too() -> None:
    text = (
        "import tensorflow as tf\nkind = {} if cuda else 'CPU'\nprint('%ss' % kind)\n"
        "with tf.device(kind):\n    f()\n"
    )
    assert after(text.format("'GPU'")) == text.format("'CPU'")


@pytest.mark.parametrize("name", ["tf.compat.v1.device", "foo.device", "d"])
def test_every_name_of_the_function(name: str) -> None:
    start = f"{TF}import tensorflow as foo\nfrom tensorflow import device as d\n"
    assert after(f"{start}with {name}('/gpu:0'): pass\n") == f"{start}with {name}('/cpu:0'): pass\n"


def test_scopes_of_a_graph() -> None:
    text = TF + "g = tf.Graph()\nwith g.as_default(), g.device('/{}:0'):\n    f()\n"
    assert after(text.format("gpu")) == text.format("cpu")


def test_only_the_branch_for_the_gpu_changes() -> None:
    text = TF + "with tf.device('/cpu:0' if FLAGS.cpu else '/{}:0'):\n    f()\n"
    assert after(text.format("gpu")) == text.format("cpu")


def test_a_name_is_followed_to_its_text() -> None:
    text = TF + (
        "def run():\n    if n:\n        dev = '/{}:0'\n    else:\n        dev = '/cpu:0'\n"
        "    with tf.device(dev):\n        f()\n"
    )
    assert after(text.format("gpu")) == text.format("cpu")


@pytest.mark.parametrize(
    "text",
    [
        "(dev, layout) = ('/{}:0', 'NCHW')\nwith tf.device(dev): f()\n",
        "def scope():\n    return '/{}:0'\nwith tf.device(scope()): f()\n",
        "def run(dev):\n    with tf.device(dev): f()\nrun('/{}:0')\n",
        "dev = '/{}:0' if kind == 'GPU' else '/cpu:0'\nwith tf.device(dev): f()\n",
        "for dev in ('/{}:0', '/cpu:0'):\n    with tf.device(dev): f()\n",
    ],
)
def test_every_way_of_a_text_is_followed(text: str) -> None:
    assert after(TF + text.format("gpu")) == TF + text.format("cpu")


def test_a_text_of_another_file_is_changed_there() -> None:
    files = {
        "config.py": "DEVICE = '/gpu:0'\n",
        "train.py": TF + "import config\nwith tf.device(config.DEVICE): f()\n",
    }
    assert text_after(migrate(files, RULE), "config.py") == "DEVICE = '/cpu:0'\n"


def test_the_same_question_is_asked_once() -> None:
    text = TF + "with tf.device(a.b): f('gpu:0')\nwith tf.device(a.b): g()\n"
    assert outcomes(check_unchanged(text, RULE)) == [Outcome.BY_HAND]


def test_the_name_of_another_function_is_another_one() -> None:
    text = (
        TF
        + "def other():\n    dev = '/gpu:0'\n\ndef run():\n    with tf.device(dev):\n        f()\n"
    )
    assert outcomes(check_unchanged(text, RULE)) == [Outcome.BY_HAND]


def test_a_text_that_is_compared_is_left_to_the_user() -> None:
    text = TF + "d = '/gpu:0'\nif d == '/gpu:0': log()\nwith tf.device(d): f()\n"
    assert outcomes(check_unchanged(text, RULE)) == [Outcome.BY_HAND]


@pytest.mark.parametrize("device", ["FLAGS.device", "'/job:worker/gpu:%d' % i", "next_device()"])
def test_what_is_not_certain_is_told_where_gpus_are_named(device: str) -> None:
    text = f"{TF}with tf.device({device}):\n    f()\n"
    gpu = f"{text}# such as gpu:0\n"
    assert outcomes(check_unchanged(gpu, RULE)) == [Outcome.BY_HAND]


@pytest.mark.parametrize(
    "device",
    [
        "'/cpu:0'",
        "None",
        "FLAGS.device",
        "'/job:worker/task:%d' % FLAGS.task_id",
        "var.device",
        "tf.train.replica_device_setter(FLAGS.ps_tasks)",
        "deploy_config.inputs_device()",
        "tf.DeviceSpec(device_type='CPU')",
        "lambda op: '/job:ps/cpu:0'",
    ],
)
def test_other_placement_stays(device: str) -> None:
    assert check_unchanged(f"{TF}with tf.device({device}):\n    f()\n", RULE) == []


def test_a_copy_of_the_tpu_estimator_is_left_out_as_a_whole() -> None:
    body = "    def train(self):\n        with tf.device(self.device): f()  # such as gpu:0\n"
    copy = (
        f"{TF}class TPUEstimator(tf.estimator.Estimator):\n{body}        tf.contrib.tpu.shard(f)\n"
    )
    assert check_unchanged(copy, RULE) == []
    for other in ("TPUEstimator(tf.contrib.tpu.TPUEstimator)", "Other(tf.estimator.Estimator)"):
        own = copy.replace("TPUEstimator(tf.estimator.Estimator)", other)
        assert outcomes(check_unchanged(own, RULE)) == [Outcome.BY_HAND]
    untold = copy.replace("tf.contrib.tpu.", "")
    assert outcomes(check_unchanged(untold, RULE)) == [Outcome.BY_HAND]


def test_functions_that_place_on_servers_stay() -> None:
    text = (
        f"{TF}setter = tf.train.replica_device_setter(cluster=c, worker_device='/job:w/gpu:0')\n"
        "with tf.device(setter):\n    f()\n"
        "with tf.device(deploy_config.optimizer_device()):\n    g()\n"
    )
    assert check_unchanged(text, RULE) == []


def test_unit_tests_and_other_libraries_stay() -> None:
    test = """\
        import tensorflow as tf
        class PlacementTest(tf.test.TestCase):
            def test_it(self):
                with tf.device('/gpu:0'):
                    self.assertDeviceEqual(v.device, '/gpu:0')
        """
    assert check_unchanged(test, RULE) == []
    assert check_unchanged("import torch\nwith torch.device('gpu:0'): f()\n", RULE) == []
    assert check_unchanged(f"{TF}import cl\nwith cl.device('gpu:0'): f()\n", RULE) == []
