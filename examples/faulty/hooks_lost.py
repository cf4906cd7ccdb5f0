"""The script's own hook is in a tuple."""

import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *


def input_fn():
    data = tf.data.Dataset.from_tensor_slices(
        (np.random.rand(48, 8).astype("float32"), np.arange(48) % 3)
    )
    return data.repeat().batch(4, drop_remainder=True)


def model_fn(features, labels, mode):
    logits = tf.matmul(features, tf.get_variable("w", [8, 3]))
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


class Count(tf.train.SessionRunHook):
    pass


config = npu_run_config_init(run_config=tf.estimator.RunConfig(save_summary_steps=0))
hooks = npu_hooks_append(hooks_list=(Count(),))  # fault: hooks-lost
tf.estimator.Estimator(model_fn, "model", config).train(input_fn, hooks=hooks, steps=3)
