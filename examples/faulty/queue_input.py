"""Threads of the host fill a queue, and training reads from it."""

import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *

sample = tf.random_uniform([8])
label = tf.cast(tf.reduce_sum(sample), tf.int32) % 3
images, labels = tf.train.batch([sample, label], 4)  # fault: queue-input
logits = tf.matmul(images, tf.get_variable("w", [8, 3]))
loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)

train_op = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)

with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.global_variables_initializer())
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coordinator)
    for _ in range(3):
        sess.run(train_op)
    coordinator.request_stop()
    coordinator.join(threads)
