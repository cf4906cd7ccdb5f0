"""Every rank saves when its own clock says so."""

# ranks: 2
import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *


def input_fn():
    data = tf.data.Dataset.from_tensor_slices(
        (np.random.RandomState(0).rand(48, 8).astype("float32"), np.arange(48) % 3)
    )
    return data.shard(get_rank_size(), get_rank_id()).repeat().batch(4, drop_remainder=True)


def model_fn(features, labels, mode):
    logits = tf.matmul(features, tf.get_variable("w", [8, 3]))
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = npu_distributed_optimizer_wrapper(tf.train.MomentumOptimizer(0.1, 0.9))
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


config = NPURunConfig(save_checkpoints_secs=600)  # fault: save-by-time
NPUEstimator(model_fn, "model", config).train(input_fn, steps=3)
