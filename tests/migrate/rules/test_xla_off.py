"""Nothing turns XLA on."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_migrated, check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "xla_off"
LEVEL = "config.graph_options.optimizer_options.global_jit_level"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"{LEVEL} = tf.OptimizerOptions.ON_1", f"{LEVEL} = tf.OptimizerOptions.OFF"),
        (
            f"{LEVEL} = tf.compat.v1.OptimizerOptions.ON_2",
            f"{LEVEL} = tf.compat.v1.OptimizerOptions.OFF",
        ),
        (
            "o = tf.OptimizerOptions(global_jit_level=tf.OptimizerOptions.ON_1 if xla else 0)",
            "o = tf.OptimizerOptions(global_jit_level=tf.OptimizerOptions.OFF if xla else 0)",
        ),
        ("tf.config.optimizer.set_jit(True)", "tf.config.optimizer.set_jit(False)"),
        ("tf.config.optimizer.set_jit(FLAGS.xla)", "tf.config.optimizer.set_jit(False)"),
        (
            "with tf.xla.experimental.jit_scope(): pass",
            "with tf.xla.experimental.jit_scope(compile_ops=False): pass",
        ),
        (
            "scope = tf.contrib.compiler.jit.experimental_jit_scope\nwith scope(True): pass",
            "scope = tf.contrib.compiler.jit.experimental_jit_scope\nwith scope(False): pass",
        ),
        ("import os\nos.environ['TF_XLA_FLAGS'] = '--x'\nx = 1", "import os\nx = 1"),
        ("import os\nos.environ.setdefault('XLA_FLAGS', '--x')\nx = 1", "import os\nx = 1"),
        (
            "from os import environ as e\nif xla:\n    e['XLA_FLAGS'] = '--x'",
            "from os import environ as e\nif xla:\n    pass",
        ),
    ],
)
def test_what_turns_xla_on_turns_it_off(before: str, after: str) -> None:
    head = "import tensorflow as tf\n"
    told = check_migrated(f"{head}{before}\n", f"{head}{after}\n", RULE)
    assert outcomes(told) == [Outcome.CHANGED]


def test_a_level_from_the_protocol_buffer_is_the_same() -> None:
    head = "from tensorflow.core.protobuf import config_pb2\n"
    check_migrated(
        f"{head}{LEVEL} = config_pb2.OptimizerOptions.ON_1\n",
        f"{head}{LEVEL} = config_pb2.OptimizerOptions.OFF\n",
        RULE,
    )


@pytest.mark.parametrize(
    "text",
    [
        "y = tf.xla.experimental.compile(f, [x])",
        "from tensorflow.contrib.compiler import xla\ny = xla.compile(f, inputs=[x])",
        "from tensorflow.contrib.compiler import xla\n@xla.estimator_model_fn\ndef f(): pass",
        "tf.config.optimizer.set_jit(ask())",
        "with tf.xla.experimental.jit_scope(**options): pass",
        "import os\nos.environ['XLA_FLAGS'] += ' --x'",
        "import os\nos.environ['XLA_FLAGS'] = '--x'\nprint(os.environ['XLA_FLAGS'])",
    ],
)
def test_what_is_not_certain_is_told(text: str) -> None:
    told = check_unchanged(f"import tensorflow as tf\n{text}\n", RULE)
    assert outcomes(told) == [Outcome.BY_HAND]


def test_what_to_call_instead_of_compile_is_said() -> None:
    told = check_unchanged(
        "import tensorflow as tf\ny = tf.xla.experimental.compile(step, [x, y])\n", RULE
    )
    assert "`step(*[x, y])`" in told[0].message


@pytest.mark.parametrize(
    "text",
    [
        f"{LEVEL} = tf.OptimizerOptions.OFF",
        f"print({LEVEL} == tf.OptimizerOptions.ON_1)",
        "tf.config.optimizer.set_jit(False)",
        "mine.set_jit(True)",
        "environ = {}\nenviron['XLA_FLAGS'] = '--x'",
        "import os\nos.environ['TF_CPP_MIN_LOG_LEVEL'] = '2'",
    ],
)
def test_what_turns_nothing_on_stays(text: str) -> None:
    assert check_unchanged(f"import tensorflow as tf\n{text}\n", RULE) == []
