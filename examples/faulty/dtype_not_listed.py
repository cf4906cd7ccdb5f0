"""Positions are multiplied as int64, which no prototype of MatMul takes."""

import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *

images = tf.placeholder(tf.float32, [4, 8])
labels = tf.placeholder(tf.int32, [4])

table = tf.cast(images, tf.int64)
counts = tf.matmul(table, tf.ones([8, 3], tf.int64))  # fault: dtype-not-listed
logits = tf.matmul(images, tf.get_variable("w", [8, 3])) + tf.cast(counts, tf.float32)
loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
train_op = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)

with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        sess.run(train_op, {images: np.ones([4, 8]), labels: np.zeros([4])})
