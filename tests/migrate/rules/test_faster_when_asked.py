"""Rewrites for speed that nobody asked for are told, once each."""

from __future__ import annotations

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
    assert "`--also argmax_pooling`: use the pooling operator" in told[0].message


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
