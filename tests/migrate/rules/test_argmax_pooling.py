"""The pooling of a stem gets the operator with the fast gradient."""

from __future__ import annotations

import pytest

from tests.migrate.rules.migrated import check_migrated, check_unchanged, outcomes
from trainferry.migrate.rule import Outcome

RULE = "argmax_pooling"
TOP = "import tensorflow as tf\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "tf.layers.max_pooling2d(net, 3, 2, padding='same')",
            "tf.nn.max_pool_with_argmax(net, (1, 3, 3, 1), (1, 2, 2, 1), padding='SAME')[0]",
        ),
        (
            "tf.layers.max_pooling2d(inputs=net, pool_size=[3, 3], strides=(2, 2), name='p')",
            "tf.nn.max_pool_with_argmax(input=net, ksize=(1, 3, 3, 1), strides=(1, 2, 2, 1), "
            "name='p', padding='VALID')[0]",
        ),
        (
            "tf.nn.max_pool(net, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding='SAME')",
            "tf.nn.max_pool_with_argmax(net, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], "
            "padding='SAME')[0]",
        ),
        (
            "tf.compat.v1.layers.max_pooling2d(net, 3, 2, 'VALID', 'channels_last')",
            "tf.compat.v1.nn.max_pool_with_argmax(net, (1, 3, 3, 1), (1, 2, 2, 1), 'VALID', "
            "'NHWC')[0]",
        ),
    ],
)
def test_the_same_pooling_is_written_with_argmax(before: str, after: str) -> None:
    told = check_migrated(f"{TOP}net = {before}\n", f"{TOP}net = {after}\n", RULE)
    assert outcomes(told) == [Outcome.CHANGED]


def test_only_the_first_of_a_function_is_changed() -> None:
    pool = "tf.nn.max_pool(net, [1, 3, 3, 1], [1, 2, 2, 1], 'SAME')"
    new = "tf.nn.max_pool_with_argmax(net, [1, 3, 3, 1], [1, 2, 2, 1], 'SAME')[0]"
    check_migrated(f"{TOP}a = {pool}\nb = {pool}\n", f"{TOP}a = {new}\nb = {pool}\n", RULE)


@pytest.mark.parametrize(
    "call",
    [
        "tf.layers.max_pooling2d(net, self.size, self.stride, data_format=self.data_format)",
        "tf.layers.max_pooling2d(net, 3, 2, data_format='channels_first')",
        "tf.nn.max_pool(net, [1, 3, 3, 1], [1, 2, 2, 1], padding)",
        "tf.contrib.slim.max_pool2d(net, [3, 3], stride=2)",
        "tf.layers.max_pooling2d(net, **options)",
    ],
)
def test_what_is_not_shown_is_left_to_the_user(call: str) -> None:
    told = check_unchanged(f"{TOP}net = {call}\n", RULE)
    assert outcomes(told) == [Outcome.BY_HAND]


@pytest.mark.parametrize(
    "text",
    [
        f"{TOP}net = tf.layers.max_pooling2d(net, 2, 2)\n",
        f"{TOP}def pool(x, size, stride):\n    return tf.layers.max_pooling2d(x, size, stride)\n",
        f"{TOP}branch_2 = tf.contrib.slim.max_pool2d(net, 3, stride=2)\n",
        "from mylib import tf\nnet = tf.layers.max_pooling2d(net, 3, 2)\n",
    ],
)
def test_other_poolings_are_left_alone(text: str) -> None:
    assert check_unchanged(text, RULE) == []
