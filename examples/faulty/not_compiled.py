"""A graph is compiled ahead, which only the device can do."""

import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *

images = tf.placeholder(tf.float32, [4, 8])
labels = tf.placeholder(tf.int32, [4])
logits = tf.matmul(images, tf.get_variable("w", [8, 3]))
loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)

train_op = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)

with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.global_variables_initializer())
    util.npu_compile(sess, train_op)  # fault: not-compiled
    for _ in range(3):
        sess.run(train_op, {images: np.ones([4, 8]), labels: np.zeros([4])})
