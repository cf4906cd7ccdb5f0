"""Hooks that do something else on an NPU are told."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_unchanged, outcomes
from trainferry.migrate.options import Options
from trainferry.migrate.rule import Outcome

RULE = "estimator_hooks"
PARALLEL = Options(distributed="hccl")


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\nh = tf.train.NanTensorHook(loss)\n",
        "import tensorflow.compat.v1 as tf\nh = tf.estimator.ProfilerHook(save_steps=9)\n",
        "from keras.callbacks import TerminateOnNaN as T\nh = T()\n",
        "from tensorflow import keras\nh = keras.callbacks.TerminateOnNaN()\n",
    ],
)
def test_hooks_without_effect_are_told(text: str) -> None:
    assert outcomes(check_unchanged(text, RULE)) == [Outcome.BY_HAND]


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\nh = tf.train.CheckpointSaverHook(d, save_secs=60)\n",
        "import tensorflow as tf\nspec.training_hooks[-1].end(tf.Session())\n",
    ],
)
def test_what_goes_wrong_on_several_devices_is_told_there(text: str) -> None:
    assert check_unchanged(text, RULE) == []
    assert outcomes(check_unchanged(text, RULE, PARALLEL)) == [Outcome.BY_HAND]


@pytest.mark.parametrize(
    "text",
    [
        "import tensorflow as tf\nhooks = [a, b]\nprint(hooks[-1].count)\n",
        "import tensorflow as tf\ndef f(hooks):\n    hooks.append(a)\n    hooks[-1].end()\n",
    ],
)
def test_the_last_hook_of_a_list_of_ones_own_is_known(text: str) -> None:
    assert check_unchanged(text, RULE, PARALLEL) == []
    text = f"from npu_bridge.npu_init import npu_hooks_append\n{text}npu_hooks_append(hooks)\n"
    assert outcomes(check_unchanged(text, RULE, PARALLEL)) == [Outcome.BY_HAND]


@pytest.mark.parametrize(
    "text",
    [
        "from mylib import NanTensorHook\nNanTensorHook(loss)\n",
        "import tensorflow as tf\ntf.train.LoggingTensorHook(t, 9)\ntf.train.StopAtStepHook(9)\n",
        "import tensorflow as tf\ntf.train.CheckpointSaverHook(d, None, 100)\nx[-1]\n",
    ],
)
def test_the_rest_is_silent(text: str) -> None:
    assert check_unchanged(text, RULE, PARALLEL) == []
