"""Rewrites for speed that nobody asked for are told, once each."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import (
    check_project,
    check_unchanged,
    findings,
    migrate,
    outcomes,
)
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "faster_when_asked"
STEM = "import tensorflow as tf\nx = tf.layers.max_pooling2d(x, 3, 2, padding='same')\n"


def test_a_rewrite_is_told_once_per_project() -> None:
    told = check_project({"a.py": STEM, "b.py": STEM}, {}, RULE)
    assert outcomes(told) == [Outcome.BY_HAND]
    assert str(told[0].path) == "a.py"
    assert STEM[told[0].start :].startswith("tf.layers.max_pooling2d")
    assert "`--also argmax_pooling`: use the operator" in told[0].message


def test_a_place_that_would_be_rewritten_comes_first() -> None:
    unclear = "import tensorflow as tf\nx = tf.layers.max_pooling2d(x, cfg.size, 2)\n"
    (told,) = check_project({"a.py": unclear, "b.py": STEM}, {}, RULE)
    assert str(told.path) == "b.py"


def test_the_condition_is_told_where_a_size_cannot_be_seen() -> None:
    text = "import tensorflow as tf\nx = tf.layers.max_pooling2d(x, cfg.size, 2)\n"
    (told,) = check_unchanged(text, RULE)
    assert "for poolings of 3 by 3 in steps of 2" in told.message


@pytest.mark.parametrize(
    "function",
    [
        "def pool(x, k):\n    return tf.nn.max_pool(x, [1, k, k, 1], [1, k, k, 1], 'SAME')\n",
        "def pool(x, *, k=2):\n    return tf.layers.max_pooling2d(x, (k, k), 2)\n",
    ],
)
def test_a_function_for_pools_of_all_sizes_is_not_told(function: str) -> None:
    assert check_unchanged(f"import tensorflow as tf\n{function}", RULE) == []


def test_unit_tests_need_not_be_fast() -> None:
    test = f"import unittest\n{STEM}class PoolTest(unittest.TestCase):\n    pass\n"
    assert check_project({"pool_test.py": test}, {}, RULE) == []
    (told,) = check_project({"pool_test.py": test, "train.py": STEM}, {}, RULE)
    assert str(told.path) == "train.py"


def test_aliases_are_followed() -> None:
    text = "from tensorflow.compat.v1 import layers as L\nL.max_pooling2d(x, 3, 2)\n"
    assert outcomes(check_unchanged(text, RULE)) == [Outcome.BY_HAND]


def test_what_is_asked_for_or_skipped_is_not_told() -> None:
    name = frozenset(("argmax_pooling",))
    assert check_unchanged(STEM, RULE, Options(also=name)) == []
    assert check_unchanged(STEM, RULE, Options(skip=name)) == []


def test_edits_of_other_rules_do_not_make_it_say_more() -> None:
    text = """\
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        config = tf.estimator.RunConfig(train_distribute=strategy)
        estimator = tf.estimator.Estimator(model_fn, config=config)
        """
    told = [one.message for one in findings(migrate({"a.py": text}, "*")) if one.rule.name == RULE]
    assert len(told) == len(set(told)) > 0


def test_other_poolings_are_not_ours() -> None:
    assert check_unchanged("from torch import nn\nnn.MaxPool2d(3, 2)\n", RULE) == []
    text = "import tensorflow as tf\nx = tf.layers.max_pooling2d(x, 2, 2)\n"
    assert check_unchanged(text, RULE) == []
