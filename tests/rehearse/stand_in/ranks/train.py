"""Trains a small network with its share of the batch, and writes what it computed."""

import sys

import numpy as np
import tensorflow as tf

from npu_bridge.npu_init import *

STEPS, BATCH = 5, 16


def _network(pictures, words):
    net = tf.layers.conv2d(pictures, 4, 3, activation=tf.nn.relu)
    net = tf.layers.dense(tf.layers.flatten(net), 8)
    table = tf.get_variable("table", [10, 8])
    return tf.layers.dense(net + tf.nn.embedding_lookup(table, words), 3)


def main(style, target):
    sess, shutdown = init_resource()
    rank, size = get_rank_id(), get_rank_size()
    tf.set_random_seed(rank + 1)
    numbers = np.random.RandomState(0)
    share = slice(rank * BATCH // size, (rank + 1) * BATCH // size)
    pictures = tf.placeholder(tf.float32, [BATCH // size, 6, 6, 1])
    words = tf.placeholder(tf.int32, [BATCH // size])
    labels = tf.placeholder(tf.int32, [BATCH // size])
    loss = tf.losses.sparse_softmax_cross_entropy(labels, _network(pictures, words))
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    if style == "wrapper":
        optimizer = npu_distributed_optimizer_wrapper(optimizer)
    else:
        optimizer = NPUDistributedOptimizer(optimizer)
    if style == "scaled":
        manager = ExponentialUpdateLossScaleManager(1024, 3)
        optimizer = NPULossScaleOptimizer(optimizer, manager, is_distributed=size > 1)
    pairs = optimizer.compute_gradients(loss)
    train = optimizer.apply_gradients(pairs)
    dense = [pair[0] for pair in pairs if isinstance(pair[0], tf.Tensor)]
    start = hccl_ops.broadcast(tf.trainable_variables(), 0)
    found = {}
    with tf.Session() as training:
        training.run(tf.global_variables_initializer())
        training.run(start)
        if size == 1:
            _load(training, target)
        _save(training, found, "start")
        for step in range(STEPS):
            feeds = {
                pictures: numbers.randn(BATCH, 6, 6, 1)[share],
                words: numbers.randint(10, size=BATCH)[share],
                labels: numbers.randint(3, size=BATCH)[share],
            }
            gradients, _ = training.run([dense, train], feeds)
            for index, gradient in enumerate(gradients):
                found[f"gradient/{step}/{index}"] = gradient
        _save(training, found, "end")
    np.savez(f"{target}.{size}.{rank}.npz", **found)
    shutdown_resource(sess, shutdown)
    close_session(sess)


def _save(sess, found, when):
    for variable in tf.trainable_variables():
        found[f"{when}/{variable.op.name}"] = sess.run(variable)


def _load(sess, target):
    """Start from what the ranks agreed upon; each had another seed."""
    with np.load(target + ".2.0.npz") as kept:
        for variable in tf.trainable_variables():
            variable.load(kept["start/" + variable.op.name], sess)


main(*sys.argv[1:])
