"""Trains an estimator with its share of the batch, and writes the weights."""

import sys

import numpy as np
import tensorflow as tf

from npu_bridge.npu_init import *

STEPS, BATCH = 4, 8


def _input(rank, size):
    x = np.random.RandomState(0).randn(STEPS * BATCH, 5).astype(np.float32)
    y = np.sin(x.sum(1, keepdims=True))

    def make():
        data = tf.data.Dataset.from_tensor_slices((x, y))
        # Always: seeds of operators count the operators before them.
        data = data.shard(size, rank)
        return data.batch(BATCH // size, drop_remainder=True)

    return make


def _model(features, labels, mode):
    net = tf.layers.dense(features, 6, activation=tf.nn.tanh)
    loss = tf.losses.mean_squared_error(labels, tf.layers.dense(net, 1))
    optimizer = NPUDistributedOptimizer(tf.train.AdamOptimizer(0.05))
    train = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)


def main(target):
    sess, _ = init_resource()
    rank, size = get_rank_id(), get_rank_size()
    # Ranks start differently; the estimator gives them all the weights of rank 0.
    config = NPURunConfig(tf_random_seed=7 + rank, iterations_per_loop=2)
    folder = f"{target}.estimator.{size}.{rank}"
    estimator = NPUEstimator(_model, model_dir=folder, config=config)
    estimator.train(_input(rank, size), max_steps=STEPS)
    names = [name for name in estimator.get_variable_names() if name.startswith("dense")]
    found = {name: estimator.get_variable_value(name) for name in names}
    np.savez(f"{target}.{size}.{rank}.npz", **found)
    sess.close()


main(*sys.argv[1:])
