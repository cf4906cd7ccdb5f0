"""An Estimator with batch normalisation, in a strategy for one device or in none."""

import sys

import numpy as np
import tensorflow as tf

PICTURES = np.random.RandomState(0).rand(32, 8, 8, 3).astype("float32")
LABELS = np.arange(32) % 4


def read():
    rows = tf.data.Dataset.from_tensor_slices((PICTURES, LABELS)).repeat()
    return rows.batch(8, drop_remainder=True)


def build(features, labels, mode):
    net = tf.layers.conv2d(features, 4, 3)
    net = tf.layers.batch_normalization(net, training=True)
    logits = tf.layers.dense(tf.layers.flatten(tf.nn.relu(net)), 4)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
        train = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)


strategy = tf.distribute.MirroredStrategy(["device:CPU:0"]) if "strategy" in sys.argv else None
config = tf.estimator.RunConfig("model", train_distribute=strategy)
tf.estimator.Estimator(build, config=config).train(read, max_steps=20)
