"""The parts of `tf.contrib` that come from tf_slim; each function is a check."""

from __future__ import annotations

import importlib

import tensorflow as tf
import tf_slim


def every_way_to_slim_is_the_same():
    import tensorflow.contrib.slim as as_slim
    from tensorflow.contrib import slim

    assert tf.contrib.slim is as_slim is slim is tf_slim


def networks_are_found_under_both_names():
    from tensorflow.contrib.slim.nets import resnet_v1
    from tensorflow.contrib.slim.python.slim.nets import resnet_v1 as inner

    assert resnet_v1 is inner is importlib.import_module("tf_slim.nets.resnet_v1")


def layers_normalise():
    layers = tf.contrib.layers
    scope = tf.contrib.framework.arg_scope
    with scope([layers.conv2d], normalizer_fn=layers.batch_norm, padding="VALID"):
        output = layers.conv2d(tf.zeros([1, 8, 8, 3]), 4, 3)
    assert output.shape.as_list() == [1, 6, 6, 4]
    names = [variable.op.name for variable in tf.global_variables()]
    assert "Conv/BatchNorm/moving_mean" in names


def inner_modules_are_found():
    from tensorflow.contrib.framework.python.ops import variables
    from tensorflow.contrib.layers.python.layers import utils
    from tensorflow.contrib.training.python.training import hparam

    assert variables.get_variables
    assert utils.collect_named_outputs
    assert hparam.HParams is tf.contrib.training.HParams


def a_loop_of_slim_trains():
    import tempfile

    weight = tf.get_variable("w", [], initializer=tf.ones_initializer())
    tf.losses.add_loss(weight * weight)
    step = tf.contrib.slim.learning.create_train_op(
        tf.losses.get_total_loss(),
        tf.train.GradientDescentOptimizer(0.1),
        clip_gradient_norm=1.0,
    )
    with tempfile.TemporaryDirectory() as folder:
        loss = tf.contrib.slim.learning.train(step, folder, number_of_steps=3)
    assert 0 < loss < 1
