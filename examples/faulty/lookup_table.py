"""The train step looks words up."""

import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *

words = tf.placeholder(tf.int64, [4])
images = tf.placeholder(tf.float32, [4, 8])
keys, values = tf.constant([3, 5, 7], tf.int64), tf.constant([0, 1, 2], tf.int64)
table = tf.contrib.lookup.HashTable(tf.contrib.lookup.KeyValueTensorInitializer(keys, values), 0)
labels = table.lookup(words)  # fault: lookup-table
logits = tf.matmul(images, tf.get_variable("w", [8, 3]))
loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)

train_op = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)

with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(tf.tables_initializer())
    for _ in range(3):
        sess.run(train_op, {images: np.ones([4, 8]), words: np.full([4], 5)})
