"""Sequences come as long as they are."""

import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *

images = tf.placeholder(tf.float32, [4, None, 8])  # fault: changing-shapes
labels = tf.placeholder(tf.int32, [4])
logits = tf.matmul(tf.reduce_mean(images, axis=1), tf.get_variable("w", [8, 3]))
loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)

train_op = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)

with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.global_variables_initializer())
    for length in (5, 7, 9):
        sess.run(train_op, {images: np.ones([4, length, 8]), labels: np.zeros([4])})
