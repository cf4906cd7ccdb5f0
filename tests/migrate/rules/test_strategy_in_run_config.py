"""An Estimator's configuration has no strategy on NPUs: the loss would be divided twice."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_migrated, check_unchanged, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "strategy_in_run_config"
STRATEGY = "import tensorflow as tf\ns = tf.distribute.MirroredStrategy()\n"


def test_the_strategy_is_left_out_and_the_rest_stays() -> None:
    told = check_migrated(
        STRATEGY + "c = tf.estimator.RunConfig('run', train_distribute=s,  tf_random_seed=1)\n",
        STRATEGY + "c = tf.estimator.RunConfig('run',  tf_random_seed=1)\n",
        RULE,
    )
    assert outcomes(told) == [Outcome.CHANGED]
    assert "divide the loss by the number of devices" in told[0].message


def test_training_and_evaluation_are_both_left_out() -> None:
    before = STRATEGY + "c = tf.estimator.RunConfig(train_distribute=s, eval_distribute=s)\n"
    told = check_migrated(before, STRATEGY + "c = tf.estimator.RunConfig()\n", RULE)
    assert outcomes(told) == [Outcome.CHANGED, Outcome.CHANGED]


def test_aliases_and_code_that_is_half_migrated() -> None:
    head = (
        "from npu_bridge.estimator.npu import npu_strategy\n"
        "from tensorflow.compat.v1.estimator import RunConfig as R\n"
    )
    before = head + "c = R(train_distribute=npu_strategy.NPUStrategy())\n"
    assert outcomes(check_migrated(before, head + "c = R()\n", RULE)) == [Outcome.CHANGED]


def test_a_replaced_field_counts_too() -> None:
    before = STRATEGY + "c = tf.estimator.RunConfig('run')\nc = c.replace(train_distribute=s)\n"
    after = STRATEGY + "c = tf.estimator.RunConfig('run')\nc = c.replace()\n"
    assert outcomes(check_migrated(before, after, RULE)) == [Outcome.CHANGED]


@pytest.mark.parametrize(
    "config",
    [
        "tf.estimator.RunConfig(d, 1, 2, 3, None, None, 5, 10000, 100, s)",
        "tf.contrib.distribute.DistributeConfig(train_distribute=s)",
    ],
)
def test_by_hand_where_it_hides(config: str) -> None:
    assert outcomes(check_unchanged(f"{STRATEGY}c = {config}\n", RULE)) == [Outcome.BY_HAND]


@pytest.mark.parametrize(
    "text",
    [
        STRATEGY + "c = tf.estimator.RunConfig(train_distribute=None)\n",
        STRATEGY + "from own import RunConfig\nc = RunConfig(train_distribute=s)\n",
        STRATEGY
        + "p = tf.distribute.experimental.ParameterServerStrategy()\n"
        + "c = tf.estimator.RunConfig(train_distribute=p)\n",
    ],
)
def test_not_ours(text: str) -> None:
    assert check_unchanged(text, RULE) == []


@pytest.mark.parametrize("mode", ["none", "horovod"])
def test_strategies_that_are_left_keep_their_place(mode: str) -> None:
    text = STRATEGY + "c = tf.estimator.RunConfig(train_distribute=s)\n"
    options = Options(distributed="none" if mode == "none" else "horovod")
    assert check_unchanged(text, RULE, options) == []


def test_the_other_estimator_has_its_own_rule() -> None:
    text = STRATEGY + "c = tf.estimator.RunConfig(train_distribute=s)\n"
    assert check_unchanged(text, RULE, Options(also=frozenset({"npu_estimator"}))) == []
