"""A loss scale that waits for Inf."""

import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *

images = tf.placeholder(tf.float32, [4, 8])
labels = tf.placeholder(tf.int32, [4])
logits = tf.matmul(images, tf.get_variable("w", [8, 3]))
loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)

optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
gradients = optimizer.compute_gradients(loss * 128.0)
asked = [tf.is_finite(gradient) for gradient, _ in gradients]  # fault: finite-check
finite = tf.reduce_all([tf.reduce_all(one) for one in asked])
factor = tf.cast(finite, tf.float32) / 128.0
train_op = optimizer.apply_gradients([(g * factor, v) for g, v in gradients])

with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        sess.run(train_op, {images: np.ones([4, 8]), labels: np.zeros([4])})
