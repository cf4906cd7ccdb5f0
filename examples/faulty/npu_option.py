"""A dump has a path and is never turned on."""

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


config = NPURunConfig(dump_config=DumpConfig(enable_dump=False, dump_path="."))  # fault: npu-option
NPUEstimator(model_fn, "model", config).train(input_fn, steps=3)
