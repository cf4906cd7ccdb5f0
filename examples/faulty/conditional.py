"""The phase of training is asked while the graph runs."""

import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *

is_training = tf.placeholder_with_default(True, [])
images = tf.placeholder(tf.float32, [4, 8])
labels = tf.placeholder(tf.int32, [4])

scaled = tf.cond(is_training, lambda: images * 2.0, lambda: images)  # fault: conditional
logits = tf.matmul(scaled, tf.get_variable("w", [8, 3]))
loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
train_op = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)

with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        sess.run(train_op, {images: np.ones([4, 8]), labels: np.zeros([4])})
