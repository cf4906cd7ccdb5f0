"""GPU options that would fail go, those without effect are told once."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_migrated, check_unchanged, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Concern, Outcome

RULE = "gpu_options"


def test_a_list_of_horovod_goes() -> None:
    told = check_migrated(
        """\
        import tensorflow as tf
        import horovod.tensorflow as hvd
        config = tf.ConfigProto()
        # One GPU for each process.
        config.gpu_options.visible_device_list = str(hvd.local_rank())
        sess = tf.Session(config=config)
        """,
        """\
        import tensorflow as tf
        import horovod.tensorflow as hvd
        config = tf.ConfigProto()
        # One GPU for each process.
        sess = tf.Session(config=config)
        """,
        RULE,
    )
    assert outcomes(told) == [Outcome.CHANGED]
    assert told[0].finding.concern is Concern.DISTRIBUTED


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "if many:\n    c.gpu_options.visible_device_list = str(mgw.local_rank())",
            "if many:\n    pass",
        ),
        (
            "c.gpu_options.visible_device_list = str(\n    mgw.local_rank() if many else 0)\nx = 1",
            "x = 1",
        ),
    ],
)
def test_a_wrapper_of_horovod_is_known(before: str, after: str) -> None:
    head = "import tensorflow as tf\nfrom utils import mgw\n"
    check_migrated(f"{head}{before}\n", f"{head}{after}\n", RULE)


def test_a_list_that_is_with_the_adapter_already_goes() -> None:
    head = "import tensorflow as tf\nfrom npu_bridge.npu_init import *\n"
    check_migrated(
        f"{head}c.gpu_options.visible_device_list = str(get_npu_local_rank_id())\n", head, RULE
    )


def test_a_list_among_other_arguments_goes_alone() -> None:
    head = "import tensorflow as tf\nimport horovod.tensorflow as hvd\n"
    told = check_migrated(
        f"{head}o = tf.GPUOptions(allow_growth=True, visible_device_list=str(hvd.local_rank()))\n",
        f"{head}o = tf.GPUOptions(allow_growth=True)\n",
        RULE,
    )
    assert set(outcomes(told)) == {Outcome.CHANGED, Outcome.BY_HAND}


def test_a_list_that_shares_its_line_is_told() -> None:
    text = "import tensorflow as tf\nx = 1; c.gpu_options.visible_device_list = str(hvd.rank())\n"
    assert outcomes(check_unchanged(text, RULE)) == [Outcome.BY_HAND]


def test_without_distribution_the_list_stays() -> None:
    text = "import tensorflow as tf\nc.gpu_options.visible_device_list = str(hvd.local_rank())\n"
    assert check_unchanged(text, RULE, Options(distributed="none")) == []


def test_options_without_effect_are_told_once() -> None:
    told = check_unchanged(
        """\
        import os
        import tensorflow as tf
        from tensorflow.core.protobuf import config_pb2
        os.environ["CUDA_VISIBLE_DEVICES"] = "0"
        os.environ["TF_GPU_THREAD_MODE"] = "gpu_private"
        config = config_pb2.ConfigProto(device_count={"GPU": 1})
        config.gpu_options.allow_growth = True
        config.gpu_options.allow_growth = False
        """,
        RULE,
    )
    assert outcomes(told) == [Outcome.BY_HAND]
    for name in ("CUDA_VISIBLE_DEVICES", "TF_GPU_THREAD_MODE", "device_count", "ASCEND_DEVICE_ID"):
        assert name in told[0].message


def test_what_is_not_for_gpus_is_not_ours() -> None:
    text = """\
        import os
        import tensorflow as tf
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
        mine.allow_growth = True
        config = tf.ConfigProto(allow_soft_placement=True, device_count={"CPU": 4})
        """
    assert check_unchanged(text, RULE) == []
