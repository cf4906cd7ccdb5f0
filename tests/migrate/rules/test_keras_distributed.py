"""Keras models train on several devices with reduced gradients and the same first weights."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import (
    check_migrated,
    check_unchanged,
    migrate,
    outcomes,
    text_after,
)
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "keras_distributed"
PARALLEL = Options(distributed="hccl")
HEAD = "import tensorflow as tf\n"
MODEL = "model = tf.keras.Sequential()\n"
WRAPPER = "from npu_bridge.estimator.npu.npu_optimizer import npu_distributed_optimizer_wrapper\n"
CALLBACK = (
    "from npu_bridge.estimator.npu.npu_callbacks import NPUBroadcastGlobalVariablesCallback\n"
)
NEW = "NPUBroadcastGlobalVariablesCallback(0)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("'adam', 'mse'", "{}'adam')), 'mse'"),
        ("optimizer='sgd', loss='mse'", "optimizer={}'sgd')), loss='mse'"),
        ("loss='mse', optimizer='sgd', **more", "loss='mse', optimizer={}'sgd')), **more"),
    ],
)
def test_an_optimizer_by_name_is_made_and_wrapped_in_its_place(before: str, after: str) -> None:
    new = after.format("npu_distributed_optimizer_wrapper(tf.keras.optimizers.get(")
    told = check_migrated(
        f"{HEAD}{MODEL}model.compile({before})\n",
        f"{HEAD}{WRAPPER}{MODEL}model.compile({new})\n",
        RULE,
        PARALLEL,
    )
    assert outcomes(told) == [Outcome.CHANGED]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("fit(x, y)", "fit(x, y, callbacks=[{}])"),
        ("fit(x, y, callbacks=None)", "fit(x, y, callbacks=[{}])"),
        ("fit(x, y, callbacks=[])", "fit(x, y, callbacks=[{}])"),
        ("fit(x, y, callbacks=[ a, b])", "fit(x, y, callbacks=[{},  a, b])"),
        ("fit(x, y, callbacks=[\n  (a)])", "fit(x, y, callbacks=[{},\n  (a)])"),
        ("fit(x, y, 8, 1, 0, [a])", "fit(x, y, 8, 1, 0, [{}, a])"),
        ("fit_generator(g, 10)", "fit_generator(g, 10, callbacks=[{}])"),
        ("fit_generator(g, 10, 1, 1, [a])", "fit_generator(g, 10, 1, 1, [{}, a])"),
        ("fit(x, callbacks=[a], **more)", "fit(x, callbacks=[{}, a], **more)"),
    ],
)
def test_all_devices_begin_with_the_same_weights(before: str, after: str) -> None:
    told = check_migrated(
        f"{HEAD}{MODEL}model.{before}\n",
        f"{HEAD}{CALLBACK}{MODEL}model.{after.format(NEW)}\n",
        RULE,
        PARALLEL,
    )
    assert outcomes(told) == [Outcome.CHANGED]


def test_callbacks_in_a_variable_come_behind_that_of_the_adapter() -> None:
    result = migrate({"p.py": f"{HEAD}{MODEL}model.fit(x, callbacks=mine)\n"}, RULE, PARALLEL)
    call = "model.fit(x, callbacks=[NPUBroadcastGlobalVariablesCallback(0)] + list(mine or ()))"
    assert call in text_after(result, "p.py")


@pytest.mark.parametrize(
    "call",
    [
        "fit(x, **more)",
        "fit(*all)",
        "compile(**more)",
        "train_on_batch(x, y)",
    ],
)
def test_what_is_not_certain_is_told(call: str) -> None:
    told = check_unchanged(f"{HEAD}{MODEL}model.{call}\n", RULE, PARALLEL)
    assert outcomes(told) == [Outcome.BY_HAND]


def test_a_loop_over_batches_is_told_once() -> None:
    text = f"{HEAD}{MODEL}model.train_on_batch(x, y)\nmodel.train_on_batch(y, x)\n"
    assert len(check_unchanged(text, RULE, PARALLEL)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "import re\nre.compile('x')\n",
        "import regex\nregex.compile('adam')\n",
        "from sklearn.linear_model import LogisticRegression\nLogisticRegression().fit(x, y)\n",
        "unknown.compile('adam', 'mse')\nunknown.fit(x)\n",
        f"{HEAD}{MODEL}model.compile(optimizer, 'mse')\n",
        f"{CALLBACK}{HEAD}{MODEL}model.fit(x, callbacks=[a, {NEW}])\n",
        f"from npu_bridge.npu_init import *\n{HEAD}{MODEL}"
        "model.fit(x, callbacks=npu_callbacks_append(callbacks_list=[]))\n",
        f"import horovod.tensorflow.keras as hvd\n{HEAD}{MODEL}model.fit(x)\n",
    ],
)
def test_others_are_not_ours(text: str) -> None:
    assert check_unchanged(text, RULE, PARALLEL) == []


def test_a_project_for_one_device_stays() -> None:
    assert check_unchanged(f"{HEAD}{MODEL}model.compile('adam')\nmodel.fit(x)\n", RULE) == []


def test_a_strategy_makes_a_project_parallel() -> None:
    text = f"{HEAD}s = tf.distribute.MirroredStrategy()\n{MODEL}model.fit(x, **more)\n"
    assert outcomes(check_unchanged(text, RULE)) == [Outcome.BY_HAND]
