"""The longest sequence of a batch decides a shape."""

import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *

images = tf.placeholder(tf.float32, [4, 8])
labels = tf.placeholder(tf.int32, [4])

lengths = tf.reduce_sum(tf.cast(images > 0.5, tf.int32), axis=1)
longest = tf.reduce_max(lengths)
positions = tf.range(longest)  # fault: open-dimension
mask = tf.reduce_sum(tf.cast(positions, tf.float32))
logits = tf.matmul(images, tf.get_variable("w", [8, 3])) * (1.0 + 0.0 * mask)
loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
train_op = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)

with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        sess.run(train_op, {images: np.ones([4, 8]), labels: np.zeros([4])})
