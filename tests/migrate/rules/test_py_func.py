"""Python functions in the model are told to stay on the host."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "py_func"


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\nbleu = tf.py_func(compute, [a], tf.float32)\n",
        "import tensorflow.compat.v1 as t\nt.numpy_function(compute, [a], t.float32)\n",
        "from tensorflow import py_function as p\ndef net(x):\n    return p(f, [x], [1])\n",
    ],
)
def test_a_python_function_in_the_model_is_told(text: str) -> None:
    assert outcomes(check_unchanged(text, RULE)) == [Outcome.BY_HAND]


@pytest.mark.parametrize(
    "text",
    [
        "data = data.map(lambda x: tf.py_func(read, [x], tf.float32))",
        "def one(x):\n    return tf.py_func(read, [x], tf.float32)\ndata = data.map(one)",
        "def inner(x):\n    return tf.py_func(read, [x], tf.float32)\n"
        "def one(x):\n    return inner(x)\n"
        "data = data.map(functools.partial(one, 1), num_parallel_calls=4)",
        "def one(x):\n    y = tf.parse_single_example(x, f)\n    return tf.py_func(g, [y], t)",
        "def train_input_fn():\n    return tf.py_func(g, [y], t)",
        "class T(tf.test.TestCase):\n    def test(self):\n        tf.py_func(g, [y], t)",
        "from npu_bridge.estimator.npu import npu_scope\n"
        "with npu_scope.without_npu_compile_scope():\n    tf.py_func(g, [y], t)",
    ],
)
def test_what_runs_on_the_host_anyway_is_not_told(text: str) -> None:
    assert check_unchanged(f"import functools\nimport tensorflow as tf\n{text}\n", RULE) == []


def test_another_library_is_not_ours() -> None:
    assert check_unchanged("from mylib import tf\ntf.py_func(f, [x], t)\n", RULE) == []


def test_operators_of_ones_own_stay_on_the_host() -> None:
    (told,) = check_unchanged("import tensorflow as tf\nm = tf.load_op_library('x.so')\n", RULE)
    assert "mix_compile_mode" in told.message
