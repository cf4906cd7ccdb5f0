"""Every optimizer reduces its gradients over all devices, exactly once."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import (
    check_migrated,
    check_unchanged,
    findings,
    migrate,
    outcomes,
    text_after,
)
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "optimizer_wrapped_once"
HCCL = Options(distributed="hccl")
IMPORT = "from npu_bridge.estimator.npu.npu_optimizer import npu_distributed_optimizer_wrapper"


@pytest.mark.parametrize(
    ("imports", "text"),
    [
        ("import tensorflow as tf", "tf.train.AdamOptimizer(rate)"),
        ("import tensorflow.compat.v1 as tf", "tf.train.MomentumOptimizer(rate, 0.9)"),
        ("from tensorflow.contrib import opt as contrib_opt", "contrib_opt.LARSOptimizer(rate)"),
        ("from tensorflow.train import FtrlOptimizer as F", "F(rate)"),
        ("import tensorflow as tf", "tf.keras.optimizers.SGD(0.1)"),
    ],
)
def test_each_optimizer_is_wrapped(imports: str, text: str) -> None:
    told = check_migrated(
        f"{imports}\noptimizer = {text}\n",
        f"{imports}\n{IMPORT}\noptimizer = npu_distributed_optimizer_wrapper({text})\n",
        RULE,
        HCCL,
    )
    assert outcomes(told) == [Outcome.CHANGED]


def test_an_optimizer_that_is_used_at_once_is_wrapped_alone() -> None:
    check_migrated(
        "import tensorflow as tf\ntrain = tf.train.AdamOptimizer().minimize(loss)\n",
        f"import tensorflow as tf\n{IMPORT}\n"
        "train = npu_distributed_optimizer_wrapper(tf.train.AdamOptimizer()).minimize(loss)\n",
        RULE,
        HCCL,
    )


def test_a_program_with_a_strategy_needs_it_too() -> None:
    text = """\
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        optimizer = tf.train.AdamOptimizer()
        """
    result = migrate({"program.py": text}, RULE)
    assert "npu_distributed_optimizer_wrapper(tf.train" in text_after(result)


@pytest.mark.parametrize(
    "text",
    [
        "opt = tf.train.AdamOptimizer()\n    opt = npu_distributed_optimizer_wrapper(opt)",
        "opt = NPUDistributedOptimizer(tf.train.AdamOptimizer())",
        "opt = NPUOptimizer(tf.train.AdamOptimizer(), is_distributed=True)",
    ],
)
def test_what_reaches_a_wrapper_is_not_wrapped_again(text: str) -> None:
    program = (
        "import tensorflow as tf\nfrom npu_bridge.npu_init import *\ndef f():\n"
        f"    {text}\n    return opt\n"
    )
    assert check_unchanged(program, RULE, HCCL) == []


def test_what_may_reach_a_wrapper_is_told() -> None:
    told = check_unchanged(
        """\
        import tensorflow as tf
        from npu_bridge.npu_init import *

        def make():
            return tf.train.AdamOptimizer()

        def train(optimizer):
            return npu_distributed_optimizer_wrapper(optimizer)
        """,
        RULE,
        HCCL,
    )
    assert outcomes(told) == [Outcome.BY_HAND]
    assert "exactly once" in told[0].message


def test_classes_in_a_table_and_own_optimizers_are_told() -> None:
    told = check_unchanged(
        """\
        import tensorflow as tf
        KINDS = {"adam": tf.train.AdamOptimizer}

        class Mine(tf.train.AdamOptimizer):
            pass

        isinstance(x, tf.train.AdamOptimizer)
        """,
        RULE,
        HCCL,
    )
    assert outcomes(told) == [Outcome.BY_HAND] * 2


def test_keras_optimizers_by_name_are_wrapped() -> None:
    text = """\
        import tensorflow as tf
        model = tf.keras.Sequential()
        model.compile('adam', 'mse')
        """
    result = migrate({"program.py": text}, RULE, HCCL)
    assert "model.compile(npu_distributed_optimizer_wrapper('adam'), 'mse')" in text_after(result)


def test_compile_of_another_library_is_not_ours() -> None:
    assert check_unchanged("import regex\nregex.compile('adam')\n", RULE, HCCL) == []


@pytest.mark.parametrize("distributed", ["auto", "none", "horovod"])
def test_a_program_for_one_device_stays(distributed: str) -> None:
    text = "import tensorflow as tf\nopt = tf.train.AdamOptimizer()\n"
    options = Options(distributed=distributed)  # type: ignore[arg-type] # from a list of strings
    assert check_unchanged(text, RULE, options) == []


def test_horovod_wraps_its_own() -> None:
    text = """\
        import tensorflow as tf
        import horovod.tensorflow as hvd
        strategy = tf.distribute.MirroredStrategy()
        opt = hvd.DistributedOptimizer(tf.train.AdamOptimizer())
        """
    assert findings(migrate({"program.py": text}, RULE)) == []
